#!/usr/bin/env python3
"""wild.py KERNELSCOPE [WHEEL...]

Holds what KERNELSCOPE (the release build of the terminal's door) tells of real packages against the vendors' tools. Without a WHEEL, four
packages are downloaded by pip, 630 MB, into target/wild: bitsandbytes, which has libraries for CUDA and for ROCm in one file,
nvidia-cublas, a large one, jax-rocm7-pjrt, whose compressed bundles unpack to 2.4 GB, and nvidia-cuda-sanitizer-api-cu12, whose libraries
keep cubins among their data, where no header tells of them. Nothing of them is kept in the repository.

Needs cuobjdump and clang-offload-bundler (of LLVM 22) in the path, or what CUOBJDUMP and BUNDLER name. CUOBJDUMP may name several with
colons between: that of CUDA 13 stops at cubins for GPUs that it no longer knows, that of CUDA 12 at those that it does not know yet; the
first that takes a file counts. For each library:
  - the numbers of cubins and PTX texts by architecture: `cuobjdump -all -lelf` and `-lptx` (concatenated entries count one by one),
  - the entries of each offload bundle and their sizes: `clang-offload-bundler -list` and `-unbundle`,
  - the cubins that looking through it finds (`ls --carve`), and how far they reach: by the ELF headers that this script finds itself,
  - and of the wheel that the architectures of its libraries together are those that it is said to have.
Exits with 1 if anything differs.
"""

import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

PACKAGES = ["bitsandbytes==0.50.2", "nvidia-cublas==13.10.0.20", "jax-rocm7-pjrt==0.12.0", "nvidia-cuda-sanitizer-api-cu12==12.8.93"]
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
    # So many bundles begin: a compressed one has its version and method behind the magic.
    data = library.read_bytes()
    magics = len(re.findall(rb"__CLANG_OFFLOAD_BUNDLE__|CCOB[\x01-\x03]\0[\0\x01]\0", data))
    same(f"{library.name}, bundles", len(bundles), magics)
    for bundle in bundles:
        # What is compressed has a header ahead.
        at = min(bundle["header_offset"], bundle["offset"])
        path = out / "bundle"
        path.write_bytes(data[at:bundle["offset"] + bundle["stored_size"]])
        names, _, _ = run(BUNDLER, "-list", "-type=o", f"-input={path}")
        names = names.split()
        files = [out / f"entry{i}" for i in range(len(names))]
        outputs = [f"-output={file}" for file in files]
        _, _, done = run(BUNDLER, "-unbundle", "-type=o", f"-targets={','.join(names)}", f"-input={path}", *outputs)
        theirs = {name: file.stat().st_size for name, file in zip(names, files)} if done.returncode == 0 else done.stderr
        inside = [member for member in members if member["path"].startswith(bundle["path"] + "!/")]
        ours = {member["name"]: member["size"] for member in inside if member["depth"] == bundle["depth"] + 1}
        same(f"{library.name}, bundle at 0x{at:x}", ours, theirs)
        entries += len(ours)
    print(f"  {library.name}: {library.stat().st_size:,} bytes, {len(bundles)} bundles with {entries} entries: {took:.2f} s")


def carved(kernelscope, library):
    """The cubins of a library that lie in it as they are and that no header tells of."""
    data = library.read_bytes()
    theirs = {}
    # e_ident of 64-bit cubins: the magic, two classes of bytes, the version, the OS ABI of CUDA (0x33 to version 7, 0x41 behind).
    for match in re.finditer(rb"\x7fELF\x02\x01\x01[\x33\x41]", data):
        at = match.start()
        machine, = struct.unpack_from("<H", data, at + 18)
        if machine != 190:
            continue
        segments, headers = struct.unpack_from("<QQ", data, at + 32)
        segment_size, segment_count, size, count = struct.unpack_from("<HHHH", data, at + 54)
        theirs[at] = max(headers + size * count, segments + segment_size * segment_count)
        for header in range(at + headers, at + headers + size * count, size):
            kind, = struct.unpack_from("<I", data, header + 4)
            reach = sum(struct.unpack_from("<QQ", data, header + 24))
            theirs[at] = max(theirs[at], 0 if kind == 8 else reach)  # SHT_NOBITS has none
    listed, took, _ = run(kernelscope, "ls", library, "--carve", "--json")
    members = json.loads(listed)
    as_it_is = [m for m in members if m["format"] == "cubin" and m["compression"] == "none" and m["offset"] is not None]
    ours = {m["offset"]: m["stored_size"] for m in as_it_is if m["kind"] == "carved"}
    # What a fatbin holds as it is has a header that tells of it, and padding.
    told = {m["offset"] for m in as_it_is} - ours.keys()
    same(f"{library.name}, cubins by looking through it", ours, {at: end for at, end in theirs.items() if at not in told})
    if ours:
        print(f"  {library.name}: {library.stat().st_size:,} bytes, {len(ours)} cubins that no header tells of: {took:.2f} s")


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
            carved(kernelscope, library)
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
