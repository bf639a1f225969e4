#!/usr/bin/env python3
"""What libtessera.so is made of, by its link map and its dynamic section: no object of the virtual
GPU, the lab or the command line, and no symbol but those of include/tessera/gemm.h.
library_test.py BUILD"""
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = pathlib.Path("build")
ROOMS = {"base", "problem", "launch", "arch", "catalog", "device", "gemm"}
HEADERS_ALONE = {"arch"}
FOREIGN = re.compile(r"/(vgpu|lab|sass|check|cli|tests|tools)/|/device/virtual/|CLI11|nlohmann")
# Of every Linux machine.
NEEDED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"}


def linked_files(link_map):
    return re.findall(r"^LOAD (\S+)", link_map, flags=re.M)


def room_of(path):
    """The room of an object, "" for what is none of ours. Files of a folder may be compiled as one."""
    match = re.search(r"/src/(\w+)/.*\.o$|/tessera_(\w+)\.dir/united/.*\.o$", path)
    return match.group(1) or match.group(2) if match else ""


def foreign(files):
    return [path for path in files
            if FOREIGN.search(path) or (room_of(path) and room_of(path) not in ROOMS)]


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, str(BUILD / "libtessera.so")], check=True,
                          capture_output=True, text=True).stdout


def exported():
    """The defined dynamic symbols, with their versions."""
    rows = [line.split() for line in readelf("--dyn-syms").splitlines()]
    return {row[7] for row in rows
            if len(row) == 8 and row[6] not in ("UND", "ABS", "Ndx") and row[4] in ("GLOBAL", "WEAK")}


def declared():
    text = pathlib.Path("include/tessera/gemm.h").read_text()
    return set(re.findall(r"^(?:tessera_status|const char\*|int32_t) (tessera_\w+)\(", text, flags=re.M))


class Library(unittest.TestCase):
    def test_is_made_of_its_rooms(self):
        files = linked_files((BUILD / "libtessera.link.txt").read_text())
        self.assertEqual({room_of(path) for path in files} - {""}, ROOMS - HEADERS_ALONE)
        self.assertEqual(foreign(files), [])
        self.assertTrue(any("embedded_pack" in path for path in files), "its kernels are inside")

    def test_planted_objects_are_found(self):
        for path in ("CMakeFiles/tessera_vgpu.dir/src/vgpu/machine.cpp.o",
                     "CMakeFiles/x.dir/src/device/virtual/virtual_device.cpp.o",
                     "CMakeFiles/x.dir/src/lab/data/fill.cpp.o", "x/src/sass/decode/d.cpp.o",
                     "x/src/check/run.cpp.o", "x/src/cli/main.cpp.o", "x/src/newroom/y.cpp.o",
                     "CMakeFiles/tessera_device_virtual.dir/united/tessera_device_virtual/device_virtual.cpp.o",
                     "CMakeFiles/tessera_lab.dir/united/tessera_lab/lab_data.cpp.o"):
            self.assertEqual(foreign([path]), [path])
        for path in ("CMakeFiles/x.dir/src/gemm/plan.cpp.o", "/usr/lib/libc.so",
                     "CMakeFiles/tessera_gemm.dir/united/tessera_gemm/gemm_host.cpp.o"):
            self.assertEqual(foreign([path]), [])

    def test_holds_no_text_of_other_libraries(self):
        code = (BUILD / "libtessera.so").read_bytes()
        for name in (b"nlohmann", b"N3CLI", b"tessera4vgpu", b"tessera3lab"):
            self.assertNotIn(name, code)

    def test_exports_its_header_and_nothing_else(self):
        self.assertEqual(exported(), {name + "@@TESSERA_0" for name in declared()})
        self.assertGreater(len(declared()), 8)

    def test_has_a_versioned_name_and_needs_the_c_library_alone(self):
        dynamic = readelf("-d")
        self.assertIn("soname: [libtessera.so.0]", dynamic)
        self.assertLessEqual(set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)), NEEDED)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BUILD = pathlib.Path(sys.argv.pop(1))
    unittest.main()
