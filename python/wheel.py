"""A wheel from a finished build, with nothing but Python: wheel.py BUILD_FOLDER OUT_FOLDER. The same content as
scikit-build-core makes from pyproject.toml (pip wheel .), without compiling again and without the network."""

from __future__ import annotations

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def project() -> dict[str, str]:
    """The few fields of pyproject.toml that a wheel repeats; tomllib came with Python 3.11."""
    text = (ROOT / "pyproject.toml").read_text()
    names = ("name", "version", "description", "requires-python")
    fields = {name: re.search(rf'^{name} = "(.*)"$', text, re.MULTILINE) for name in names}
    return {name: match.group(1) for name, match in fields.items() if match}


def main() -> None:
    build, out = map(pathlib.Path, sys.argv[1:])
    facts = project()
    name = f"{facts['name']}-{facts['version']}"
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tag = f"{tag}-{tag}-{re.sub('[-.]', '_', sysconfig.get_platform())}"
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        install = ["cmake", "--install", str(build), "--component", "python", "--prefix", folder]
        subprocess.run([*install, "--strip"], check=True, stdout=subprocess.DEVNULL)
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        if not (tree / "smelt" / f"_smelt{suffix}").exists():
            sys.exit(f"{build} was not built for this Python: no _smelt{suffix}")
        about = tree / f"{name}.dist-info"
        about.mkdir()
        readme = (ROOT / "README.md").read_text()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {facts['name']}\nVersion: {facts['version']}\nSummary: {facts['description']}\n"
            f"Requires-Python: {facts['requires-python']}\nProvides-Extra: numpy\n"
            f'Requires-Dist: numpy ; extra == "numpy"\nDescription-Content-Type: text/markdown\n\n{readme}'
        )
        (about / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: smelt\nRoot-Is-Purelib: false\nTag: {tag}\n")
        (about / "entry_points.txt").write_text("[triton.backends]\nsmelt = smelt.compat.triton_backend\ncpu = smelt.compat.triton_cpu\n")
        out.mkdir(parents=True, exist_ok=True)
        wheel = out / f"{name}-{tag}.whl"
        record = []
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in tree.rglob("*") if path.is_file()):
                inside = path.relative_to(tree).as_posix()
                data = path.read_bytes()
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record.append(f"{inside},sha256={digest},{len(data)}")
                entry = zipfile.ZipInfo(inside, (1980, 1, 1, 0, 0, 0))  # the same build, the same bytes
                entry.external_attr = 0o100644 << 16
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
            listing = f"{about.name}/RECORD"
            archive.writestr(zipfile.ZipInfo(listing, (1980, 1, 1, 0, 0, 0)), "\n".join([*record, f"{listing},,\n"]))
    print(wheel)


if __name__ == "__main__":
    main()
