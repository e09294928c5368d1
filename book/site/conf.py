"""Sphinx's configuration of the book. Its source is the project itself: pages are book/*.md and the chapters' lessons.

What stands in the navigation is what book/README.md lists, in its order: there is no second list.
"""

import posixpath
import re
from pathlib import Path

from docutils import nodes
from docutils.transforms import Transform
from sphinx import addnodes

ROOT = Path(__file__).resolve().parents[2]
CONTENTS = "book/README"

project = "Roofwalk"
author = "the Roofwalk authors"
extensions = ["myst_parser"]
root_doc = CONTENTS
include_patterns = ["book/*.md", "chapters/*/lesson.md", "CONTRIBUTING.md"]
exclude_patterns = ["build", "my", ".venv", ".cache"]
language = "en"
smartquotes = False  # would turn "--all" into a dash
highlight_language = "text"
myst_heading_anchors = 4
nitpicky = True

html_theme = "furo"
html_title = "Roofwalk"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_additional_pages = {"index": "to_first_page.html"}
templates_path = ["templates"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
html_show_search_summary = False  # fetches pages, which browsers refuse for local files
html_use_index = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#005a8f", "color-brand-content": "#005a8f",
                            "color-brand-visited": "#6b3f8f"},
    "dark_css_variables": {"color-brand-primary": "#6cc5f5", "color-brand-content": "#6cc5f5",
                           "color-brand-visited": "#c9a2ec"},
    "footer_icons": [],
}


def navigation(text):
    """The toctrees of the contents page: one for each of its sections that lists pages."""
    trees = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        caption = section.splitlines()[0]
        targets = re.findall(r"^- \[[^\]]+\]\(([^)#]+)\.md\)", section, flags=re.MULTILINE)
        pages = ["/" + posixpath.normpath(posixpath.join("book", target)) for target in targets]
        trees.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"]))
    return "\n\n" + "\n\n".join(trees) + "\n"


def add_navigation(app, name, source):
    if name == CONTENTS:
        source[0] += navigation(source[0])


class LightAndDark(Transform):
    """Shows a picture's dark twin on a dark page, lets wide pictures scroll on narrow screens and opens them at a touch."""

    default_priority = 400  # before Sphinx collects the pictures to copy

    def apply(self):
        folder = Path(self.document["source"]).parent
        for image in list(self.document.findall(nodes.image)):
            dark = image["uri"].removesuffix(".svg") + "-dark.svg"
            if image["uri"] == dark or not (folder / dark).is_file():
                continue
            image["classes"].append("only-light")
            image["width"] = "100%"  # any given width makes Sphinx link the picture to its file
            twin = nodes.image(uri=dark, alt=image["alt"], width="100%", classes=["only-dark"])
            image.parent.replace(image, [image, twin])
            frame = image.parent  # the paragraph that contains only this picture
            frame.replace_self(nodes.container("", image, twin, classes=["picture"]))


class LinksToFiles(Transform):
    """Makes links to Markdown files that are no pages of the book, such as a folder's README, links to copies of them."""

    default_priority = 400  # before Sphinx collects the files to copy

    def apply(self):
        env = self.document.settings.env
        for link in list(self.document.findall(addnodes.pending_xref)):
            if link["refdomain"] == "doc" and link["reftarget"] not in env.found_docs:
                file = addnodes.download_reference("", "", *link.children, refdoc=link["refdoc"], refdomain=None,
                                                   reftype="myst", refexplicit=link["refexplicit"],
                                                   reftarget=f"/{link['reftarget']}.md", classes=link["classes"])
                link.replace_self(file)


def setup(app):
    app.connect("source-read", add_navigation)
    app.add_transform(LightAndDark)
    app.add_transform(LinksToFiles)
    return {"parallel_read_safe": True}
