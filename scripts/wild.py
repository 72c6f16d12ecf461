#!/usr/bin/env python3
"""wild.py KERNELSCOPE [WHEEL...]

Holds what KERNELSCOPE (the release build of the terminal's door) tells of real packages against the vendors' tools. Without a WHEEL, two
packages are downloaded by pip, 490 MB, into target/wild: bitsandbytes, which has libraries for CUDA and for ROCm in one file, and
nvidia-cublas, a large one. Nothing of them is kept in the repository.

Needs cuobjdump and clang-offload-bundler (of LLVM 22) in the path, or what CUOBJDUMP and BUNDLER name. CUOBJDUMP may name several with
colons between: that of CUDA 13 stops at cubins for GPUs that it no longer knows, that of CUDA 12 at those that it does not know yet; the
first that takes a file counts. For each library:
  - the numbers of cubins and PTX texts by architecture: `cuobjdump -all -lelf` and `-lptx` (concatenated entries count one by one),
  - the entries of each offload bundle and their sizes: `clang-offload-bundler -list` and `-unbundle`,
  - and of the wheel that the architectures of its libraries together are those that it is said to have.
Exits with 1 if anything differs.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

PACKAGES = ["bitsandbytes==0.50.2", "nvidia-cublas==13.10.0.20"]
CUOBJDUMP = os.environ.get("CUOBJDUMP", "cuobjdump").split(":")
BUNDLER = os.environ.get("BUNDLER") or next(
    (name for name in ("clang-offload-bundler", "clang-offload-bundler-22") if shutil.which(name)), "clang-offload-bundler")
ROOT = Path(__file__).resolve().parent.parent
WILD = ROOT / "target/wild"
differences = 0


def run(*command):
    start = time.monotonic()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace")
    return done.stdout, time.monotonic() - start, done


def same(what, ours, theirs):
    global differences
    if ours == theirs:
        return
    differences += 1
    print(f"  DIFFERENT {what}: kernelscope {ours}, the tool {theirs}")


def cuda(kernelscope, library):
    """The cubins and PTX texts of a library, by architecture."""
    theirs, seconds = collections.Counter(), 0
    for option, kind in (("-lelf", "machine code"), ("-lptx", "PTX")):
        for tool in CUOBJDUMP:
            out, took, done = run(tool, "-all", option, library)
            if done.returncode == 0:
                break
        seconds += took
        for name in re.findall(r"^(?:ELF|PTX) file\s+\d+: (\S+)$", out, re.M):
            theirs[kind, re.search(r"\.(sm_\w+)\.(?:cubin|ptx)$", name)[1]] += 1
    out, took, _ = run(kernelscope, "archs", library, "--json")
    ours = collections.Counter()
    for arch in json.loads(out):
        if arch["target"] and arch["target"].startswith("sm_") and arch["code"] != "IR":
            # cuobjdump does not tell code for a family from that for its first member.
            family = arch["target"].removesuffix("f") if arch["code"] != "PTX" else arch["target"]
            ours[arch["code"], family] += arch["count"]
    for key in sorted(ours.keys() | theirs.keys()):
        same(f"{library.name}, {key[0]} for {key[1]}", ours[key], theirs[key])
    cubins = sum(count for (kind, _), count in ours.items() if kind != "PTX")
    print(f"  {library.name}: {library.stat().st_size:,} bytes, {cubins} cubins, {sum(ours.values()) - cubins} PTX texts: "
          f"{took:.2f} s; cuobjdump {seconds:.2f} s")


def rocm(kernelscope, library, out):
    """The bundles of a library, entry by entry."""
    listed, took, _ = run(kernelscope, "ls", library, "--json")
    members = json.loads(listed)
    bundles = [member for member in members if member["format"] == "offload_bundle"]
    entries = 0
    # A section for a bundle begins with its magic: so many there are.
    data = library.read_bytes()
    magics = sum(data.count(magic) for magic in (b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"))
    same(f"{library.name}, bundles", len(bundles), magics)
    for bundle in bundles:
        # What is compressed has a header ahead.
        at = min(bundle["header_offset"], bundle["offset"])
        path = out / "bundle"
        path.write_bytes(data[at:bundle["offset"] + bundle["stored_size"]])
        names, _, _ = run(BUNDLER, "-list", "-type=o", f"-input={path}")
        theirs = {}
        for name in names.split():
            entry = out / "entry"
            _, _, done = run(BUNDLER, "-unbundle", "-type=o", f"-targets={name}", f"-input={path}", f"-output={entry}")
            theirs[name] = entry.stat().st_size if done.returncode == 0 else done.stderr
        inside = [member for member in members if member["path"].startswith(bundle["path"] + "!/")]
        ours = {member["name"]: member["size"] for member in inside if member["depth"] == bundle["depth"] + 1}
        same(f"{library.name}, bundle at 0x{at:x}", ours, theirs)
        entries += len(ours)
    print(f"  {library.name}: {library.stat().st_size:,} bytes, {len(bundles)} bundles with {entries} entries: {took:.2f} s")


def package(kernelscope, wheel):
    print(wheel.name)
    out = WILD / wheel.stem
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    archs = set()
    with zipfile.ZipFile(wheel) as files:
        libraries = [name for name in files.namelist() if ".so" in Path(name).name]
        for name in libraries:
            library = Path(files.extract(name, out))
            head = subprocess.run([kernelscope, "archs", library, "--json"], capture_output=True, text=True).stdout
            found = {(arch["code"], arch["target"]) for arch in json.loads(head)}
            archs |= found
            if any((target or "").startswith("sm_") for _, target in found):
                cuda(kernelscope, library)
            if any((target or "").startswith("gfx") for _, target in found):
                rocm(kernelscope, library, out)
            library.unlink()
    told, took, _ = run(kernelscope, "archs", wheel, "--json")
    same(f"{wheel.name}, architectures", sorted(archs, key=str), sorted({(a["code"], a["target"]) for a in json.loads(told)}, key=str))
    print(f"  the wheel: {wheel.stat().st_size:,} bytes, {len(libraries)} libraries, {len(archs)} architectures and kinds: {took:.2f} s")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    kernelscope, wheels = Path(sys.argv[1]).resolve(), [Path(name) for name in sys.argv[2:]]
    WILD.mkdir(parents=True, exist_ok=True)
    for tool in (*CUOBJDUMP, BUNDLER):
        if not shutil.which(tool):
            sys.exit(f"wild.py: {tool} is not there: CUOBJDUMP and BUNDLER may name the tools")
    if not wheels:
        for name in PACKAGES:
            known = list(WILD.glob(name.split("==")[0].replace("-", "_") + "-*.whl"))
            if not known:
                subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", WILD, name], check=True)
            wheels += known or list(WILD.glob(name.split("==")[0].replace("-", "_") + "-*.whl"))
    for wheel in wheels:
        package(kernelscope, wheel)
    print(f"{differences} differences")
    sys.exit(1 if differences else 0)


main()
