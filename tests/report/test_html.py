"""The HTML page shows all findings, and loads nothing from other servers."""

from html.parser import HTMLParser

from tests.report.reports import NASTY, report, written


class Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not {name for name, _ in attrs} - {"lang", "charset", "name", "content", "class"}

    def handle_data(self, data):
        self.text += data


def test_html_shows_all_and_holds_nothing_foreign():
    usual, hostile = Page(written("html")), Page(written("html", report(NASTY)))
    assert usual.tags == hostile.tags
    assert "wrong: queue a" in usual.text
    assert "LocalQueue queue a" in usual.text
    assert "not evaluated: Nodes not given" in usual.text
    assert "<script>alert(1)</script>" in hostile.text
    assert usual.tags.count("article") == 3
    assert usual.tags.count("mark") == 1
