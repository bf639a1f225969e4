# A room is a folder of src/: all its .cpp files, one static library, named after the folder. A room
# of headers alone is an interface library.
# tessera_room(NAME dep...)       src/NAME/**.cpp -> library tessera_NAME
# tessera_room_test(NAME dep...)  tests/NAME/**.cpp -> test_NAME, run by CTest
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)

# GoogleTest as a static library: test binaries run on machines that have none of our packages.
get_target_property(gtest_kind GTest::gtest TYPE)
if(NOT gtest_kind STREQUAL STATIC_LIBRARY)
  message(FATAL_ERROR "GoogleTest must be a static library (Debian: libgtest-dev).")
endif()

function(tessera_room name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main[.]cpp$")
  list(TRANSFORM ARGN PREPEND tessera_)
  if(sources)
    add_library(tessera_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(tessera_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(tessera_${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(tessera_${name} ${scope} ${ARGN} Threads::Threads ${CMAKE_DL_LIBS})
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
  list(TRANSFORM ARGN PREPEND tessera_)
  target_link_libraries(test_${name} PRIVATE ${ARGN} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()
