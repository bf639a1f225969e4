# calibrate_registers: experiments whose machine code is written by the program itself, into frames
# compiled here. Frames are cubins alone: no other GPU and no virtual one can run such code.
set(register_assembly ".section .rodata.registers, \"a\", @progbits\n")
set(register_files "")
foreach(name IN ITEMS registers registers_long)
  set(stem ${CMAKE_BINARY_DIR}/calibration/${name})
  add_custom_command(
    OUTPUT ${stem}.cubin
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/calibration
    COMMAND ${TESSERA_NVCC} -std=c++20 -O3 -I ${CMAKE_SOURCE_DIR} -I ${CMAKE_SOURCE_DIR}/src -cubin
            -arch=sm_90a -MD -MF ${stem}.d -MT ${stem}.cubin -o ${stem}.cubin
            ${CMAKE_SOURCE_DIR}/tools/calibrate/kernels/${name}.cu
    DEPENDS ${CMAKE_SOURCE_DIR}/tools/calibrate/kernels/${name}.cu DEPFILE ${stem}.d VERBATIM)
  set(symbol calibration_${name}_cubin)
  string(APPEND register_assembly ".global ${symbol}\n.global ${symbol}_end\n.align 8\n"
         "${symbol}: .incbin \"${stem}.cubin\"\n${symbol}_end: .byte 0\n")
  list(APPEND register_files ${stem}.cubin)
endforeach()
string(APPEND register_assembly ".section .note.GNU-stack, \"\", @progbits\n")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/calibration/registers.S CONTENT "${register_assembly}")
set_source_files_properties(${CMAKE_BINARY_DIR}/calibration/registers.S
                            PROPERTIES OBJECT_DEPENDS "${register_files}")

file(GLOB register_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/calibrate/registers/*.cpp)
add_executable(calibrate_registers ${register_sources} ${CMAKE_SOURCE_DIR}/tools/calibrate/timing/bench.cpp
                                   ${CMAKE_BINARY_DIR}/calibration/registers.S)
target_include_directories(calibrate_registers PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(calibrate_registers PRIVATE tessera_lab)
add_test(NAME calibrate_registers COMMAND calibrate_registers --make-only)

# Lays the port model beside what the program above measured.
add_executable(fit_ports ${CMAKE_SOURCE_DIR}/tools/calibrate/fit_ports.cpp)
target_link_libraries(fit_ports PRIVATE tessera_sass)
