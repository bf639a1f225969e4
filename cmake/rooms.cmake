# A room is a folder of src/: all its .cpp files, one static library, named after the folder, and the
# same objects as a shared library. The program links the first and is one file. Tests link the
# second, so that a room is not copied into a dozen test binaries. A room of headers alone is an
# interface library, for both.
# tessera_room(NAME dep...)       src/NAME/**.cpp -> tessera_NAME, tessera_NAME_shared; device_virtual
#                                 is src/device/virtual/, which is no part of the room device
# tessera_share(NAME dep...)      a static library tessera_NAME as tessera_NAME_shared, too
# tessera_room_test(NAME dep...)  tests/NAME/**.cpp -> test_NAME, run by CTest
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)

# GoogleTest as a static library: test binaries run on machines that have none of our packages.
get_target_property(gtest_kind GTest::gtest TYPE)
if(NOT gtest_kind STREQUAL STATIC_LIBRARY)
  message(FATAL_ERROR "GoogleTest must be a static library (Debian: libgtest-dev).")
endif()

# What every shared library and test binary needs once: GoogleTest, fmt and all of libstdc++, since a
# GPU machine may have another. The rest finds its symbols here, before it looks into libstdc++.a.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a
                OUTPUT_VARIABLE libstdcxx OUTPUT_STRIP_TRAILING_WHITESPACE)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_base.cpp CONTENT "// Libraries alone.\n")
add_library(tessera_test_base SHARED EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/test_base.cpp)
target_link_libraries(tessera_test_base PRIVATE
  "-Wl,--whole-archive,$<TARGET_FILE:GTest::gtest>,$<TARGET_FILE:tessera_fmt>,${libstdcxx},--no-whole-archive")
add_dependencies(tessera_test_base tessera_fmt)
target_include_directories(tessera_test_base INTERFACE
  $<TARGET_PROPERTY:GTest::gtest,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(tessera_test_base PUBLIC Threads::Threads)

# Libraries stand beside the test binaries, and are found there under another path, too.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

function(tessera_share name)
  list(TRANSFORM ARGN REPLACE "(.+)" "tessera_\\1_shared")
  get_target_property(kind tessera_${name} TYPE)
  if(kind STREQUAL INTERFACE_LIBRARY)
    add_library(tessera_${name}_shared INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(tessera_${name}_shared SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:tessera_${name}>)
    set_target_properties(tessera_${name}_shared PROPERTIES OUTPUT_NAME tessera_${name}
                                                            LINKER_LANGUAGE CXX)
    set(scope PUBLIC)
  endif()
  target_include_directories(tessera_${name}_shared ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(tessera_${name}_shared ${scope} ${ARGN} tessera_test_base ${CMAKE_DL_LIBS})
endfunction()

function(tessera_room name)
  set(rooms ${ARGN})
  string(REPLACE "_" "/" folder ${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp)
  if(name STREQUAL device)
    list(FILTER sources EXCLUDE REGEX "/device/virtual/")
  endif()
  list(FILTER sources EXCLUDE REGEX "/main[.]cpp$")
  list(TRANSFORM ARGN PREPEND tessera_)
  if(sources)
    add_library(tessera_${name} STATIC ${sources})
    tessera_precompile_room(${name})
    tessera_unite(${name})
    set(scope PUBLIC)
  else()
    add_library(tessera_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(tessera_${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(tessera_${name} ${scope} ${ARGN} tessera_fmt Threads::Threads ${CMAKE_DL_LIBS})
  tessera_share(${name} ${rooms})
endfunction()

# Headers that many files parse are compiled once: the first target that names a set compiles it, and
# the others use that. Files with options of their own cannot, and say so (SKIP_PRECOMPILE_HEADERS).
# WHY: ccache keeps nothing that was compiled with such a header. So builds with ccache also notice a
# file that forgets an include.
function(tessera_precompile target set)
  if(CCACHE)
    return()
  endif()
  get_property(first GLOBAL PROPERTY TESSERA_PRECOMPILED_${set})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY TESSERA_PRECOMPILED_${set} ${target})
  endif()
endfunction()

# The files of one folder are compiled as one, for a third to a half of the CPU-seconds: they parse the
# same headers and instantiate the same templates. Names in their anonymous namespaces must differ
# (tests/house/anonymous_names_test.cpp). Other folders are quick file by file.
# WHY: not with ccache, so that a change costs one file there, and a forgotten include is noticed; not
# the commands, so that a new one compiles itself and the list of them alone.
set(tessera_united "^(base|launch|problem|device|catalog|gemm|lab|check|cli|sass/report)(/|$)")
function(tessera_unite room)
  if(CCACHE)
    return()
  endif()
  get_target_property(sources tessera_${room} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR}/src ${folder})
    if(folder MATCHES "${tessera_united}" AND NOT folder STREQUAL "cli/commands")
      string(MAKE_C_IDENTIFIER "${folder}" group)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(tessera_${room} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# 0.6 to 0.9 CPU-seconds less for each file of a room; two more where JSON is written.
set(tessera_common_headers <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <set>
    <span> <string> <string_view> <unordered_map> <vector> <fmt/format.h>)
function(tessera_precompile_room name)
  if(name MATCHES "^(lab|check|cli)$")  # compiled for size
    tessera_precompile(tessera_${name} json ${tessera_common_headers} <nlohmann/json.hpp>)
  elseif(name STREQUAL base)
    tessera_precompile(tessera_base small ${tessera_common_headers})
  else()
    tessera_precompile(tessera_${name} common ${tessera_common_headers})
  endif()
endfunction()

# Tests run in the root of the repository and find their files relative to it, so that the binaries
# also run where the tree stands under another path.
function(tessera_room_test name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(test_${name} PRIVATE TESSERA_SOURCE_DIR=".")
  target_compile_options(test_${name} PRIVATE -Os)  # tests spend their time in the rooms they test
  list(TRANSFORM ARGN REPLACE "(.+)" "tessera_\\1_shared")
  target_link_libraries(test_${name} PRIVATE ${ARGN} tessera_test_base GTest::gtest_main)
  tessera_precompile(test_${name} gtest <gtest/gtest.h>)
  if(name STREQUAL ladder)  # ten minutes of one core: shared out to three processes
    foreach(shard RANGE 2)
      add_test(NAME ${name}_${shard} COMMAND test_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
      set_tests_properties(${name}_${shard} PROPERTIES TIMEOUT 1200
                           ENVIRONMENT "GTEST_TOTAL_SHARDS=3;GTEST_SHARD_INDEX=${shard}")
    endforeach()
  else()
    add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1200)
  endif()
endfunction()
