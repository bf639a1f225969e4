# The front door. `make run` shows the ladder, `make test` runs every test that needs no GPU; both
# install what is missing (tools/ci/setup), configure and build first. The build itself is CMake's.
.PHONY: help run library build test gpu-test install wheel package-test format tidy clean

BUILD := build

run:  ## the ladder: on the GPU, else on the virtual GPU
	@tools/ci/setup run $(BUILD)
	@mkdir -p $(BUILD) && cmake --preset release > $(BUILD)/configure.log || { cat $(BUILD)/configure.log; exit 1; }
	@cmake --build $(BUILD) --target tessera
	@$(BUILD)/tessera ladder

# The program and libtessera.so with all of the library's kernels, without the tests.
library:  ## the program and libtessera.so, without the tests
	@tools/ci/setup run $(BUILD)
	@mkdir -p $(BUILD) && cmake --preset release > $(BUILD)/configure.log || { cat $(BUILD)/configure.log; exit 1; }
	@cmake --build $(BUILD) --target tessera images tessera_library

build:  ## everything, with the tests
	@tools/ci/setup test $(BUILD)
	@cmake --preset release
	@cmake --build $(BUILD)

# A skipped test passes; how many were skipped, and why, is said at the end, with the slowest and, once
# more, what failed. As many programs at once as there are cores.
test: build  ## every test that needs no GPU
	@ctest --preset release -j $$(nproc); result=$$?; tools/ci/test_report $(BUILD) && exit $$result

# Runs what is built on this machine's GPU; needs a driver and no compiler.
gpu-test:  ## tests and checks of what is built, on the GPU of this machine
	@tools/ci/gpu_check --build $(BUILD) --out $(BUILD)/gpu-check

# Into DESTDIR, below PREFIX.
PREFIX := /usr/local
install: build  ## into DESTDIR, below PREFIX (/usr/local)
	@DESTDIR="$(abspath $(DESTDIR))" cmake --install $(BUILD) --prefix $(PREFIX)

# A wheel in dist/ that holds the library, the command line and the images.
wheel: build  ## a Python wheel in dist/
	@tools/package/make_wheel $(BUILD) dist

# Installs, packs and uses what users get, without a GPU.
package-test: build  ## what users install, installed and used
	@tools/package/test_packages $(BUILD)

format:  ## clang-format of all sources
	@git ls-files -co --exclude-standard '*.h' '*.cpp' '*.cu' | xargs clang-format-14 -i

tidy:  ## clang-tidy of all sources
	@tools/ci/setup tidy $(BUILD)
	@cmake --preset release -B build-tidy -DTESSERA_UNITE=OFF -DTESSERA_NVCC="$$(tools/build/find_nvcc $(BUILD))"
	@tools/ci/tidy build-tidy

clean:  ## removes what was built
	@rm -rf $(BUILD) build-asan build-cold build-tidy build-images

help:  ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20
