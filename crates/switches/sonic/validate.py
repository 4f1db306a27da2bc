#!/usr/bin/env python3
"""Validates a config_db.json against SONiC's YANG models, with yanglint (Debian package libyang2-tools).

    validate.py MODELS CONFIG

MODELS is the folder `src/sonic-yang-models` of a checkout of sonic-net/sonic-buildimage. Ports and a buffer pool,
which every switch has already, are added to the configuration for the validation.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jinja2

# For each table: its module, the keys in its rows' names, and for maps the inner list with its key and value.
TABLES = {
    "DSCP_TO_TC_MAP": ("dscp-tc-map", ["name"], ("DSCP_TO_TC_MAP", "dscp", "tc")),
    "TC_TO_QUEUE_MAP": ("tc-queue-map", ["name"], ("TC_TO_QUEUE_MAP", "tc", "qindex")),
    "SCHEDULER": ("scheduler", ["name"], None),
    "WRED_PROFILE": ("wred-profile", ["name"], None),
    "QUEUE": ("queue", ["ifname", "qindex"], None),
    "PORT_QOS_MAP": ("port-qos-map", ["ifname"], None),
    "BUFFER_PROFILE": ("buffer-profile", ["name"], None),
    "BUFFER_QUEUE": ("buffer-queue", ["port", "qindex"], None),
    "BUFFER_POOL": ("buffer-pool", ["name"], None),
    "PORT": ("port", ["name"], None),
}


def render(models, folder):
    """Writes all models to a folder, with templates rendered."""
    for path in models.rglob("*.yang"):
        (folder / path.name).write_text(path.read_text())
    for path in models.rglob("*.yang.j2"):
        text = jinja2.Template(path.read_text()).render(yang_model_type="py")
        (folder / path.name.removesuffix(".j2")).write_text(text)


NUMBERS = ("stypes:tc_type", "uint8", "uint16", "uint32", "int8", "int16", "int32")


def typed(folder, module, leaf, text):
    """A leaf's value as JSON has it: numbers of at most 32 bits and booleans without quotes (RFC 7951, 6.1, 6.3)."""
    model = (folder / f"sonic-{module}.yang").read_text()
    found = re.search(rf"leaf {leaf}\s*\{{[^}}]*?type\s+([\w:]+)", model)
    kind = found[1] if found else "string"
    if kind in NUMBERS:
        return int(text)
    return text == "true" if kind == "boolean" and text in ("true", "false") else text


def rows(folder, table, content):
    module, keys, inner = TABLES[table]
    for name, fields in content.items():
        row = dict(zip(keys, name.split("|")))
        if inner:
            listed, key, value = inner
            row[listed] = [
                {key: typed(folder, module, key, k), value: typed(folder, module, value, v)} for k, v in fields.items()
            ]
        else:
            for field, text in fields.items():
                row[field] = typed(folder, module, field, text)
        yield row


def main():
    models, config = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    ports = {name.split("|")[0] for name in config["QUEUE"]} | set(config["PORT_QOS_MAP"])
    config["PORT"] = {port: {"lanes": "1", "speed": "10000"} for port in sorted(ports)}
    config["BUFFER_POOL"] = {"egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "12766208"}}
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        render(models, folder)
        # The models' conditions refer to device_metadata, such as to the type of the switch.
        instance, used = {}, [str(folder / "sonic-device_metadata.yang")]
        for table, content in config.items():
            module = f"sonic-{TABLES[table][0]}"
            used.append(str(folder / f"{module}.yang"))
            instance[f"{module}:{module}"] = {table: {f"{table}_LIST": list(rows(folder, table, content))}}
        data = folder / "config.json"
        data.write_text(json.dumps(instance))
        command = ["yanglint", "-t", "config", "-p", made, *used, str(data)]
        result = subprocess.run(command, capture_output=True, text=True)
    print(result.stdout + result.stderr, end="")
    if result.returncode:
        sys.exit("the configuration does not fit the models")
    print(f"valid: {', '.join(sorted(config))}")


main()
