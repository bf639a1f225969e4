# The linker keeps one of several weak definitions. If an object compiled for AVX-512 defined anything
# outside its own namespace, that code could run on a host without AVX-512. So it must not; nor may it
# run code at program start.
# cmake -DNM=nm -DOBJECTS=a.o,b.o -P isolation.cmake
string(REPLACE "," ";" objects "${OBJECTS}")
list(LENGTH objects count)
if(count EQUAL 0)
  message(FATAL_ERROR "no objects given")
endif()
set(checked 0)
foreach(object ${objects})
  execute_process(COMMAND ${NM} -C --defined-only ${object} OUTPUT_VARIABLE symbols
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${symbols}")
  foreach(line ${lines})
    if(line MATCHES "_GLOBAL__sub_I")
      message(SEND_ERROR "${object} runs code at program start: ${line}")
    elseif(line MATCHES "^[0-9a-f]+ [A-Zu] " AND NOT line MATCHES "DW[.]ref")
      math(EXPR checked "${checked} + 1")
      if(NOT line MATCHES "tessera::vgpu::avx512::")
        message(SEND_ERROR "${object} shares a name with other code: ${line}")
      endif()
    endif()
  endforeach()
endforeach()
if(checked EQUAL 0)
  message(FATAL_ERROR "no symbols found: is ${NM} the right tool?")
endif()
message(STATUS "${checked} symbols of ${count} objects keep to themselves")
