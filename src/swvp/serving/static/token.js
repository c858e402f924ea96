/** Servers that ask for a token: a field for it, shown when a request was refused. */

const KEY = "token";

/** The token of this window, or null. */
export const savedToken = () => sessionStorage.getItem(KEY);

/** Show the field if an error is about the token, else hide it. */
export function showTokenField(error = null) {
  const form = document.getElementById("token-form"), needed = error?.status === 401;
  form.hidden = !needed;
  if (needed) document.getElementById("token").focus();
}

/** Call `again` when the reader has given a token. */
export function onToken(again) {
  document.getElementById("token-form").addEventListener("submit", event => {
    event.preventDefault();
    sessionStorage.setItem(KEY, document.getElementById("token").value);
    again();
  });
}
