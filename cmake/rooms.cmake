# A room is a folder of src/: all its .cpp files, one static library, named after the folder.
# tessera_room(NAME dep...)       src/NAME/**.cpp -> library tessera_NAME
# tessera_room_test(NAME dep...)  tests/NAME/**.cpp -> test_NAME, run by CTest
enable_testing()
find_package(Threads REQUIRED)

function(tessera_room name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main[.]cpp$")
  add_library(tessera_${name} STATIC ${sources})
  target_include_directories(tessera_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ARGN PREPEND tessera_)
  target_link_libraries(tessera_${name} PUBLIC ${ARGN} Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

function(tessera_room_test name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp)
  add_executable(test_${name} ${sources})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(test_${name} PRIVATE TESSERA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  list(TRANSFORM ARGN PREPEND tessera_)
  target_link_libraries(test_${name} PRIVATE ${ARGN} gtest gtest_main Threads::Threads)
  add_test(NAME ${name} COMMAND test_${name})
endfunction()

# Rooms, in the order of the include arrows.
tessera_room(problem)
tessera_room(vgpu)
tessera_room(sass)
