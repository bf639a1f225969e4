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
    tessera_unite(tessera_${name})
    set(scope PUBLIC)
  else()
    add_library(tessera_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(tessera_${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(tessera_${name} ${scope} ${ARGN} tessera_fmt Threads::Threads ${CMAKE_DL_LIBS})
  tessera_share(${name} ${rooms})
endfunction()

# The files of one folder are compiled as one: they parse the same headers and instantiate the same
# templates once. TRIED: precompiled headers and half of the folders, 339 CPU-seconds for all rooms; all
# folders and no such header, 262. So a helper of two files is declared in a header: names in
# anonymous namespaces must differ. -DTESSERA_UNITE=OFF compiles file by file, as `make tidy` does.
# WHY no precompiled headers: GCC 12 forgets the diagnostic pragmas of a header that it has precompiled, and
# then warns of libstdc++'s own strings (-Warray-bounds in char_traits.h); and ccache keeps nothing that was
# compiled with one.
# WHY not these folders: their files give one short name to different things.
string(JOIN "|" tessera_by_file "^vgpu/exec/decode/rules$" "^sass/model/latency_rows$"
       "^tests/(cli|fuzz|gemm|kernels|kernels/tile|lab/(bench|explain|timing|verify)|problem)$"
       "^tests/(sass/(container|model|rewrite)|vgpu/observe)$")
# tessera_unite(TARGET)   when all CMakeLists have been read, so that files may still come and go. Paths are
#                         relative, so that ccache finds what another checkout compiled.
option(TESSERA_UNITE "Compile the files of one folder as one" ON)
function(tessera_unite target)
  if(TESSERA_UNITE)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL tessera_unite_now ${target})")
  endif()
endfunction()

function(tessera_unite_now target)
  get_target_property(sources ${target} SOURCES)
  set(groups "")
  set(all "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    if(NOT path MATCHES "^(src|tests)/.+[.]cpp$")
      list(APPEND all ${source})
      continue()
    endif()
    string(REGEX REPLACE "^src/" "" path ${path})
    cmake_path(GET path PARENT_PATH folder)
    if(folder MATCHES "${tessera_by_file}")
      list(APPEND all ${source})
      continue()
    endif()
    # Folders inside of a folder of a room are part of it: "vgpu/exec/warp" of "vgpu/exec". Not the operations,
    # whose functions GCC would inline less in a larger file.
    if(NOT folder MATCHES "^tests/|/ops(/|$)")
      string(REGEX REPLACE "^([^/]+/[^/]+)/.*" "\\1" folder ${folder})
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" group)
    list(APPEND groups ${group})
    string(APPEND text_${group} "#include \"${path}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    set(united ${CMAKE_BINARY_DIR}/united/${target}/${group}.cpp)
    file(CONFIGURE OUTPUT ${united} CONTENT "${text_${group}}" @ONLY)
    list(APPEND all ${united})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${all}")
endfunction()

# Some files of a room, compiled with options of their own:
# tessera_part(ROOM PART "option;..." file...)   the objects become part of both libraries of the room
function(tessera_part room part options)
  get_target_property(sources tessera_${room} SOURCES)
  list(REMOVE_ITEM sources ${ARGN})
  set_target_properties(tessera_${room} PROPERTIES SOURCES "${sources}")
  add_library(tessera_${room}_${part} OBJECT ${ARGN})
  target_include_directories(tessera_${room}_${part} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(tessera_${room}_${part} PRIVATE ${options})
  foreach(library tessera_${room} tessera_${room}_shared)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:tessera_${room}_${part}>)
  endforeach()
endfunction()

file(STRINGS ${CMAKE_SOURCE_DIR}/tests/limits.txt tessera_test_seconds REGEX "^test_seconds ")
string(REGEX REPLACE "^test_seconds ([0-9]+).*" "\\1" tessera_test_seconds "${tessera_test_seconds}")

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
  tessera_unite(test_${name})
  # COST: what takes long begins first, so that no core is idle at the end.
  # WHY one thread of OpenBLAS: its idle ones yield in a circle, a sixth of all CPU-seconds.
  if(name STREQUAL ladder)  # shared out to processes that run side by side
    foreach(shard RANGE 3)
      add_test(NAME ${name}_${shard} COMMAND test_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
      set_tests_properties(${name}_${shard} PROPERTIES TIMEOUT ${tessera_test_seconds} COST 1000
                           ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard};OPENBLAS_NUM_THREADS=1")
    endforeach()
  else()
    add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${tessera_test_seconds} COST 100)
  endif()
endfunction()
