"""What every JupyterLab of the kit has: of `make lab`, of the job script, and of the hub."""

import json
import sys
from pathlib import Path

import jsonschema
from jupyter_server.services.config import ConfigManager

ROOT = Path(__file__).parents[2]
SETTINGS = ROOT / "src" / "coursekit" / "jupyter" / "settings"
SCHEMAS = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"


def test_nobody_is_asked_whether_to_fetch_news(monkeypatch):
    """JupyterLab finds the setting by the folder in its path, and its own schema knows the names and values."""
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(SETTINGS))
    found = ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")

    assert found == {"@jupyterlab/apputils-extension:notification": {"checkForUpdates": False, "fetchNews": "false"}}
    for name, values in found.items():
        schema = json.loads((SCHEMAS / f"{name.replace(':', '/')}.json").read_text())
        assert values.keys() <= schema["properties"].keys()
        jsonschema.validate(values, schema)
