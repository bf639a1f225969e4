# calibrate: small kernels that time one thing each, and the program that runs them. It needs a
# driver and nothing else, like every binary here, so the kernels are embedded.
set(calibration_assembly ".section .rodata.calibration, \"a\", @progbits\n")
set(calibration_files "")
foreach(name IN ITEMS shared_memory global_memory matrix pipes control collisions atomics)
  set(source ${CMAKE_SOURCE_DIR}/tools/calibrate/kernels/${name}.cu)
  set(stem ${CMAKE_BINARY_DIR}/calibration/${name})
  set(flags -std=c++20 -O3 --expt-relaxed-constexpr -I ${CMAKE_SOURCE_DIR} -I ${CMAKE_SOURCE_DIR}/src)
  add_custom_command(
    OUTPUT ${stem}.ptx
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/calibration
    COMMAND ${TESSERA_NVCC} ${flags} -ptx -arch=compute_90a -MD -MF ${stem}.d -MT ${stem}.ptx
            -o ${stem}.ptx ${source}
    DEPENDS ${source} DEPFILE ${stem}.d VERBATIM)
  add_custom_command(
    OUTPUT ${stem}.cubin
    COMMAND ${TESSERA_NVCC} -cubin -arch=sm_90a -o ${stem}.cubin ${stem}.ptx
    DEPENDS ${stem}.ptx VERBATIM)
  add_custom_command(
    OUTPUT ${stem}.portable.ptx
    COMMAND ${TESSERA_NVCC} ${flags} -ptx -arch=compute_80 -o ${stem}.portable.ptx ${source}
    DEPENDS ${stem}.ptx VERBATIM)
  foreach(part IN ITEMS ptx cubin portable.ptx)
    string(REPLACE "." "_" suffix ${part})
    set(symbol calibration_${name}_${suffix})
    string(APPEND calibration_assembly
           ".global ${symbol}\n.global ${symbol}_end\n.align 8\n"
           "${symbol}: .incbin \"${stem}.${part}\"\n${symbol}_end: .byte 0\n")
    list(APPEND calibration_files ${stem}.${part})
  endforeach()
endforeach()
string(APPEND calibration_assembly ".section .note.GNU-stack, \"\", @progbits\n")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/calibration/images.S CONTENT "${calibration_assembly}")
set_source_files_properties(${CMAKE_BINARY_DIR}/calibration/images.S
                            PROPERTIES OBJECT_DEPENDS "${calibration_files}")

file(GLOB calibrate_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/calibrate/timing/*.cpp)
add_executable(calibrate ${calibrate_sources} ${CMAKE_BINARY_DIR}/calibration/images.S)
target_include_directories(calibrate PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(calibrate PRIVATE tessera_lab)
# Every kernel runs on the virtual GPU, too: once, without times.
add_test(NAME calibrate COMMAND calibrate --device virtual --json -)

# promoted, fp64_feed: candidates of main loops, timed on a GPU (tools/calibrate/*/main.cpp).
set(flags -std=c++20 -O3 --expt-relaxed-constexpr -I ${CMAKE_SOURCE_DIR} -I ${CMAKE_SOURCE_DIR}/src
    -I ${TESSERA_GENERATED})
foreach(name IN ITEMS promoted fp64_feed)
  set(stem ${CMAKE_BINARY_DIR}/calibration/${name})
  set(source ${CMAKE_SOURCE_DIR}/tools/calibrate/${name}/probes.cu)
  add_custom_command(
    OUTPUT ${stem}.ptx
    COMMAND ${TESSERA_NVCC} ${flags} -ptx -arch=compute_90a -MD -MF ${stem}.d -MT ${stem}.ptx
            -o ${stem}.ptx ${source}
    DEPENDS ${source} DEPFILE ${stem}.d VERBATIM)
  add_custom_command(
    OUTPUT ${stem}.cubin
    COMMAND ${TESSERA_NVCC} -cubin -arch=sm_90a -o ${stem}.cubin ${stem}.ptx
    DEPENDS ${stem}.ptx VERBATIM)
  add_custom_target(${name}_code DEPENDS ${stem}.cubin)
  add_executable(${name} EXCLUDE_FROM_ALL tools/calibrate/${name}/main.cpp)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE tessera_lab)
  add_dependencies(${name} ${name}_code)
endforeach()

# accuracy: how far products of FP32 are from the exact ones, by compute type and kind of numbers.
add_executable(accuracy tools/calibrate/accuracy/main.cpp tools/calibrate/accuracy/data.cpp)
target_include_directories(accuracy PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(accuracy PRIVATE tessera_lab)
add_test(NAME accuracy COMMAND accuracy --check)
