"""How Sphinx makes the book; `make.py` hands over this folder, and what differs as options."""

# Sphinx reads names of its own, in lower case, from a module.
project = "Data-parallel deep learning"
author = "the course kit"
extensions = ["myst_nb", "sphinx.ext.mathjax"]
exclude_patterns = ["slides-html", "_static"]
html_theme = "furo"
html_title = "Data-parallel deep learning"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
mathjax_path = "mathjax.js"  # make.py copies it: no page asks the network
mathjax3_config = {"options": {"enableMenu": False}}
myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_space = False  # as Marp has it: "$WORK and $SCRATCH" is no formula
myst_heading_anchors = 4
nb_execution_mode = "off"  # pictures are those of `make run`
suppress_warnings = ["myst.header", "misc.highlighting_failure", "mystnb.unknown_mime_type"]
