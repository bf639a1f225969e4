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
target_include_directories(tessera_library INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(tessera_library PRIVATE libzstd.a Threads::Threads ${CMAKE_DL_LIBS})
add_embedded_pack(tessera_library)
target_link_options(tessera_library PRIVATE -Wl,--version-script=${script} -Wl,-Map=${map}
                                            -Wl,--no-undefined)

# The operators of PyTorch, against its stable C interface, whose functions are looked up when Python loads it.
file(GLOB operators CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/torch_kernels/*.cpp)
add_library(tessera_torch SHARED ${operators})
target_include_directories(tessera_torch PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/python/torch_kernels)
target_compile_options(tessera_torch PRIVATE -fvisibility=hidden)
target_link_libraries(tessera_torch PRIVATE ${CMAKE_DL_LIBS})
# WHY not the usual options, with libstdc++ and libgcc inside: exceptions pass through PyTorch, and with a second
# unwinder they ended the process. PyTorch needs the shared ones anyway.
set_target_properties(tessera_torch PROPERTIES LINK_OPTIONS "$<$<CONFIG:Release>:-s>;-Wl,--gc-sections;-Wl,--no-undefined")
add_dependencies(tessera_library tessera_torch)

# What is shown of it: programs in C and C++, which see its headers alone.
file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.c ${CMAKE_SOURCE_DIR}/examples/*.cpp)
set(example_targets)
foreach(example IN LISTS examples)
  get_filename_component(name ${example} NAME)
  string(REPLACE . _ name example_${name})
  add_executable(${name} ${example})
  target_link_libraries(${name} PRIVATE tessera_library ${CMAKE_DL_LIBS})
  list(APPEND example_targets ${name})
endforeach()

# Its tests are a user's program: they see the header and what it exports.
file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/library/*.cpp)
add_executable(test_library ${tests})
target_include_directories(test_library PRIVATE ${CMAKE_SOURCE_DIR})
target_compile_options(test_library PRIVATE -Os)
# WHY: base alone, for numbers in host memory; the library itself is seen through its header.
target_include_directories(test_library PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(test_library PRIVATE tessera_library tessera_base_shared tessera_test_base GTest::gtest)
add_dependencies(test_library fake_cuda ${example_targets})
add_test(NAME library COMMAND test_library WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME library_link COMMAND python3 tests/tools/library_test.py ${CMAKE_BINARY_DIR}
         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
# With NumPy, where tools/ci/setup could fetch it.
set(python python3)
if(EXISTS ${CMAKE_BINARY_DIR}/python/made_of)
  set(python ${CMAKE_BINARY_DIR}/python/bin/python3)
endif()
add_test(NAME python_package COMMAND ${python} tests/python/tessera_test.py
         ${CMAKE_BINARY_DIR}/libtessera.so.0 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME python_attack COMMAND ${python} tests/python/attack_test.py ${CMAKE_BINARY_DIR}/libtessera.so.0
         ${CMAKE_BINARY_DIR}/tests/fake_cuda WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME python_auxiliary COMMAND ${python} tests/python/auxiliary_test.py
         ${CMAKE_BINARY_DIR}/libtessera.so.0 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
foreach(rules numpy torch)
  add_test(NAME python_${rules}_rules COMMAND ${python} tests/python/${rules}_rules_test.py
           ${CMAKE_BINARY_DIR}/libtessera.so.0 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endforeach()
add_subdirectory(${CMAKE_SOURCE_DIR}/tests/fake_torch ${CMAKE_BINARY_DIR}/tests/fake_torch)
add_test(NAME python_torch_kernels COMMAND python3 tests/python/torch_kernels_test.py ${CMAKE_BINARY_DIR}/libtessera.so.0
         ${CMAKE_BINARY_DIR}/libtessera_torch.so ${CMAKE_BINARY_DIR}/tests/fake_torch ${CMAKE_BINARY_DIR}/tests/fake_cuda
         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME python_torch_products COMMAND ${python} tests/python/torch_products_test.py
         ${CMAKE_BINARY_DIR}/libtessera.so.0 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME python_drawn_views COMMAND ${python} tests/python/drawn_views_test.py
         ${CMAKE_BINARY_DIR}/libtessera.so.0 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME numpy_matmul COMMAND ${python} tests/python/clients/numpy_matmul.py
         ${CMAKE_BINARY_DIR}/libtessera.so.0 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME python_again COMMAND python3 tests/python/again_test.py ${CMAKE_BINARY_DIR}/libtessera.so.0
         ${CMAKE_BINARY_DIR}/tests/fake_cuda WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME readme_code COMMAND ${python} tests/tools/readme_code_test.py ${CMAKE_BINARY_DIR}
         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME python_examples COMMAND ${python} tests/python/examples_test.py
         ${CMAKE_BINARY_DIR}/libtessera.so.0 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
# Programs of others, unchanged but for their products (tests/clients).
add_library(blas_gemm SHARED ${CMAKE_SOURCE_DIR}/tests/clients/blas_gemm.cpp)
target_link_libraries(blas_gemm PRIVATE tessera_library)
target_link_options(blas_gemm PRIVATE -Wl,--unresolved-symbols=ignore-all)  # xerbla_ is the program's
add_test(NAME netlib_blas COMMAND python3 tests/clients/netlib_test.py ${CMAKE_BINARY_DIR}
         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(netlib_blas PROPERTIES SKIP_RETURN_CODE 77)
add_executable(call_time EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/tools/call_time.cpp)
target_include_directories(call_time PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(call_time PRIVATE tessera_library ${CMAKE_DL_LIBS})
add_dependencies(call_time fake_cuda)
add_executable(gpu_call_time EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/tools/gpu_call_time.cpp)
target_include_directories(gpu_call_time PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(gpu_call_time PRIVATE tessera_lab)
add_dependencies(gpu_call_time images)
add_executable(gpu_first_calls EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/tools/first_calls/gpu_first_calls.cpp)
target_include_directories(gpu_first_calls PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(gpu_first_calls PRIVATE tessera_lab)
add_dependencies(gpu_first_calls images)
add_executable(host_operands EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/tools/host_operands.cpp)
target_include_directories(host_operands PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(host_operands PRIVATE tessera_gemm)
add_dependencies(host_operands images)

# The fuzzer, with the sanitizers: over what reads a caller's values and memory and calls the driver;
# the rest is linked as it is.
file(GLOB fuzzer CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*.cpp)
file(GLOB watched CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/gemm/c_api/*.cpp ${CMAKE_SOURCE_DIR}/src/gemm/host/*.cpp
     ${CMAKE_SOURCE_DIR}/src/problem/*.cpp ${CMAKE_SOURCE_DIR}/src/device/cuda/*.cpp)
add_executable(fuzz_c_api ${fuzzer} ${watched})
set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=undefined)
target_include_directories(fuzz_c_api PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_options(fuzz_c_api PRIVATE -O1 -g1 ${sanitize})
set_target_properties(fuzz_c_api PROPERTIES LINK_OPTIONS "${sanitize}")
target_link_libraries(fuzz_c_api PRIVATE tessera_gemm ${CMAKE_DL_LIBS})
tessera_unite(fuzz_c_api)
add_dependencies(fuzz_c_api fake_cuda images)
add_test(NAME fuzz COMMAND fuzz_c_api --seconds 10 WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
add_test(NAME faults COMMAND fuzz_c_api --faults WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
add_test(NAME no_driver COMMAND fuzz_c_api --no-driver WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
