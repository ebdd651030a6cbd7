# %% shadow-modules
# title = "Hand in modules that are imported in place of the real ones"
# fails = ["num-updates-tests"]
# flags = ["files"]
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

for name in ("json.py", "sitecustomize.py", "usercustomize.py", "conftest.py", "nbgrader_config.py", "site.pth"):
    (folder / name).write_text("raise SystemExit(0)\n")
(folder / "coursekit").mkdir()
(folder / "coursekit" / "__init__.py").write_text("")
(folder / "coursekit" / "checks.py").write_text(
    "from unittest.mock import MagicMock as check\ndef __getattr__(name):\n    return check()\n"
)
