# libtessera.so: the rooms that multiply, the images of their kernels, and nothing else. Only the C
# interface is visible (cmake/libtessera.map). libtessera.link.txt in the build folder says what was linked,
# and a test reads it.
add_library(tessera_library SHARED)
set(map ${CMAKE_BINARY_DIR}/libtessera.link.txt)
set(script ${CMAKE_SOURCE_DIR}/cmake/libtessera.map)
foreach(room base problem launch arch catalog device gemm fmt)
  get_target_property(kind tessera_${room} TYPE)
  if(NOT kind STREQUAL INTERFACE_LIBRARY)
    target_sources(tessera_library PRIVATE $<TARGET_OBJECTS:tessera_${room}>)
  endif()
endforeach()
set_target_properties(tessera_library PROPERTIES OUTPUT_NAME tessera VERSION ${PROJECT_VERSION}
                                                 SOVERSION 0 LINKER_LANGUAGE CXX LINK_DEPENDS ${script})
target_include_directories(tessera_library INTERFACE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(tessera_library PRIVATE libzstd.a Threads::Threads ${CMAKE_DL_LIBS})
add_embedded_pack(tessera_library)
target_link_options(tessera_library PRIVATE -Wl,--version-script=${script} -Wl,-Map=${map}
                                            -Wl,--no-undefined)

# What is shown of it: programs in C, which see its header alone.
file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.c)
foreach(example IN LISTS examples)
  get_filename_component(name ${example} NAME_WE)
  add_executable(example_${name} ${example})
  target_link_libraries(example_${name} PRIVATE tessera_library ${CMAKE_DL_LIBS})
endforeach()

# Its tests are a user's program: they see the header and what it exports.
file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/library/*.cpp)
add_executable(test_library ${tests})
target_include_directories(test_library PRIVATE ${CMAKE_SOURCE_DIR})
target_compile_options(test_library PRIVATE -Os)
target_link_libraries(test_library PRIVATE tessera_library tessera_test_base GTest::gtest)
add_dependencies(test_library fake_cuda example_multiply)
add_test(NAME library COMMAND test_library WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME library_link COMMAND python3 tests/tools/library_test.py ${CMAKE_BINARY_DIR}
         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
