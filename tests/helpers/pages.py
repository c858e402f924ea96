"""HTML pages as tests read them."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """The tags, attributes and table rows of a page; fails on tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.attributes, self.rows, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.attributes += [(tag, *attribute) for attribute in attributes]
        if tag not in ("meta", "img"):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data
