/** Messages above the results: errors with what to do about them, and remarks. */

import {make} from "./dom.js";

/**
 * Show messages in place of those before.
 * @param {HTMLElement} place
 * @param {{text: string, kind?: "error"|"remark", action?: {name: string, run: function(): void}}[]} messages
 */
export function showNotices(place, messages) {
  place.replaceChildren(...messages.map(({text, kind = "remark", action}) => make("div", {class: `notice ${kind}`},
    make("p", {}, text), action ? make("button", {type: "button", onclick: action.run}, action.name) : null)));
}
