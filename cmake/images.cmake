# Images: kernels compiled device-only and embedded in the binaries that use the catalog. CMake's
# CUDA language plays no part; nvcc is one more command that writes files.
#
# add_image(NAME SOURCE kernel.cu [PORTABLE 75|80|90|0])
#     NAME.cu            the folder's kernel plus one extern "C" entry a config row, by generate_entries
#     NAME.ptx           for compute_90a, with source lines; the virtual GPU runs it
#     NAME.sm_90a.cubin  made from that PTX; one more for each further entry of TESSERA_CUBIN_ARCHS
#     NAME.portable.ptx  for older cards; the driver compiles it there. PORTABLE 0: empty, since the
#                        kernel needs what sm_90a alone has
#     NAME.packed        these three in one, as they are embedded
#                        The build stops where ptxas serialises wgmma or a main loop spills.
# patch_image(NAME)      the cubin of an image patched, to be embedded beside it; for each image that
#                        TESSERA_PATCHED names
#     NAME.patched.cubin, .from, .txt   by patch_cubin: FFMAs reordered, the hash of what they were
#                                       made from, the proof. Empty cubin: not proved, and .txt says why
#     NAME.patch         these three in one, as they are embedded
# add_patched_image(NAME FROM) an image with all of FROM's code, and FROM's cubin patched beside it
# add_ladder_images()    one image for each folder of src/ladder; a line
#                        "inline constexpr int kPortableArch = 80;" in its config.h raises PORTABLE,
#                        kPatchedFrom makes it a patched image
# add_production_images() the same for the kernels of src/kernels/families
# embed_images(LIBRARY)  all images above as one library behind catalog/images.h
set(TESSERA_CUBIN_ARCHS sm_90a CACHE STRING
    "Architectures to compile cubins for: the first from the sm_90a PTX, others from the portable PTX")
set(TESSERA_PATCHED "simt_f32" CACHE STRING
    "Images whose cubin is patched: a GPU of SM 9.0 runs that one (docs/sass-patching.md)")
set(TESSERA_NVCC "" CACHE FILEPATH "nvcc of CUDA 13.0; empty: looked for where tools/build/find_nvcc looks")

if(NOT TESSERA_NVCC)
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/build/find_nvcc ${CMAKE_BINARY_DIR}
                  OUTPUT_VARIABLE found_nvcc OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "No nvcc of CUDA 13.0 found. Run tools/ci/setup, which fetches it.")
  endif()
  set(TESSERA_NVCC ${found_nvcc} CACHE FILEPATH "" FORCE)
endif()
message(STATUS "nvcc: ${TESSERA_NVCC}")

# Headers that kernels include as if they were in src/: the wrappers of wgmma, one for each N.
set(TESSERA_GENERATED ${CMAKE_BINARY_DIR}/generated)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_SOURCE_DIR}/tools/build/generate_wgmma.py)
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/build/generate_wgmma.py
                        ${TESSERA_GENERATED}/kernels/ptx COMMAND_ERROR_IS_FATAL ANY)

# WHY: rung 12 was measured with them, and the rungs after it have none.
set(TESSERA_SPILLS_12_warp_tile 3)

function(add_image name)
  cmake_parse_arguments(IMAGE "" "SOURCE;PORTABLE" "" ${ARGN})
  if("${IMAGE_PORTABLE}" STREQUAL "")
    set(IMAGE_PORTABLE 75)
  endif()
  file(RELATIVE_PATH kernel ${CMAKE_SOURCE_DIR}/src ${IMAGE_SOURCE})
  set(stem ${CMAKE_BINARY_DIR}/images/${name})
  list(TRANSFORM TESSERA_CUBIN_ARCHS REPLACE "(.+)" "${stem}.\\1.cubin" OUTPUT_VARIABLE cubins)
  set(parts ${stem}.ptx ${stem}.portable.ptx ${cubins})
  list(GET TESSERA_CUBIN_ARCHS 0 first_arch)

  # The byproduct makes Ninja compare the .cu before and after: unchanged entries rebuild nothing.
  add_custom_command(
    OUTPUT ${stem}.cu BYPRODUCTS ${stem}.cu.checked
    COMMAND generate_entries ${name} ${kernel} ${stem}.cu
    COMMAND ${CMAKE_COMMAND} -E touch ${stem}.cu.checked
    DEPENDS generate_entries
    COMMENT "Entries of ${name}" VERBATIM)
  add_custom_command(
    OUTPUT ${parts}
    COMMAND ${CMAKE_SOURCE_DIR}/tools/build/compile_image.sh ${TESSERA_NVCC} ${CMAKE_SOURCE_DIR}
            ${TESSERA_GENERATED} ${stem} ${IMAGE_PORTABLE} ${TESSERA_CUBIN_ARCHS}
    DEPENDS ${stem}.cu ${CMAKE_SOURCE_DIR}/tools/build/compile_image.sh
    DEPFILE ${stem}.d
    COMMENT "Image of ${name}" VERBATIM)
  add_custom_command(
    OUTPUT ${stem}.packed
    COMMAND check_cubin ${stem}.${first_arch}.cubin ${TESSERA_SPILLS_${name}}
    COMMAND pack_files ${stem}.packed ${parts}
    DEPENDS check_cubin pack_files ${parts}
    COMMENT "Packing ${name}" VERBATIM)

  set_property(GLOBAL APPEND PROPERTY TESSERA_IMAGES ${name})
  set_property(GLOBAL PROPERTY TESSERA_PORTABLE_${name} ${IMAGE_PORTABLE})
  set_property(GLOBAL APPEND PROPERTY TESSERA_IMAGE_FILES ${stem}.packed)
endfunction()

function(patch_image name)
  get_property(images GLOBAL PROPERTY TESSERA_IMAGES)
  if(NOT name IN_LIST images)
    message(FATAL_ERROR "TESSERA_PATCHED names ${name}, but there is no such image with a source.")
  endif()
  get_property(patched GLOBAL PROPERTY TESSERA_PATCHED_IMAGES)
  if(name IN_LIST patched)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY TESSERA_PATCHED_IMAGES ${name})
  set(stem ${CMAKE_BINARY_DIR}/images/${name})
  list(GET TESSERA_CUBIN_ARCHS 0 arch)
  set(parts ${stem}.patched.cubin ${stem}.patched.from ${stem}.patched.txt)
  add_custom_command(
    OUTPUT ${parts}
    COMMAND patch_cubin --image ${stem}.${arch}.cubin ${stem}
    DEPENDS patch_cubin ${stem}.${arch}.cubin
    COMMENT "Reordering the machine code of ${name}" VERBATIM)
  add_custom_command(
    OUTPUT ${stem}.patch
    COMMAND pack_files ${stem}.patch --beside ${stem}.${arch}.cubin ${parts}
    DEPENDS pack_files ${parts}
    COMMENT "Packing the patch of ${name}" VERBATIM)
  set_property(GLOBAL APPEND PROPERTY TESSERA_IMAGE_FILES ${stem}.patch)
endfunction()

function(add_patched_image name from)
  patch_image(${from})
  set_property(GLOBAL APPEND PROPERTY TESSERA_IMAGES ${name})
  set_property(GLOBAL PROPERTY TESSERA_CODE_OF_${name} ${from})
endfunction()

# An image whose portable architecture stands in the config.h beside the kernel.
function(add_image_of name kernel)
  get_filename_component(folder ${kernel} DIRECTORY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/config.h)
  file(STRINGS ${folder}/config.h portable REGEX "int kPortableArch = [0-9]+;")
  string(REGEX MATCH "[0-9]+" portable "${portable}")
  add_image(${name} SOURCE ${kernel} PORTABLE "${portable}")
endfunction()

function(add_ladder_images)
  file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ladder/*/kernel.cu)
  foreach(kernel IN LISTS kernels)
    get_filename_component(folder ${kernel} DIRECTORY)
    get_filename_component(name ${folder} NAME)
    add_image_of(${name} ${kernel})
  endforeach()
  file(GLOB configs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ladder/*/config.h)
  foreach(config IN LISTS configs)
    file(STRINGS ${config} from REGEX "char kPatchedFrom\\[\\]")
    if(from)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${config})
      string(REGEX REPLACE ".*\"(.+)\".*" "\\1" from "${from}")
      get_filename_component(folder ${config} DIRECTORY)
      get_filename_component(name ${folder} NAME)
      add_patched_image(${name} ${from})
    endif()
  endforeach()
endfunction()

function(add_production_images)
  add_image_of(simt_f32 ${CMAKE_SOURCE_DIR}/src/kernels/families/simt/kernel.cu)
  # One source for four images, whose names end with the lowest SM that runs them.
  foreach(name simt_f32_sm75 simt_f64_sm75 simt_f32_sm80 simt_f64_sm80)
    string(REGEX MATCH "[0-9]+$" portable ${name})
    add_image(${name} SOURCE ${CMAKE_SOURCE_DIR}/src/kernels/families/simt/portable.cu
              PORTABLE ${portable})
  endforeach()
  foreach(name IN LISTS TESSERA_PATCHED)
    patch_image(${name})
  endforeach()
endfunction()

# Bytes of a file of the images' folder as `symbol` to `symbol`_end.
macro(embed_file symbol file)
  string(APPEND assembly ".global ${symbol}\n.global ${symbol}_end\n"
                         "${symbol}: .incbin \"${CMAKE_BINARY_DIR}/images/${file}\"\n"
                         "${symbol}_end: .byte 0\n")
  string(APPEND symbols "extern const char ${symbol}[], ${symbol}_end[];\n")
endmacro()

# One assembler line pulls one file in; the table gives the bytes names and types.
function(embed_images library)
  get_property(names GLOBAL PROPERTY TESSERA_IMAGES)
  get_property(files GLOBAL PROPERTY TESSERA_IMAGE_FILES)
  set(assembly ".section .rodata.tessera_images, \"a\", @progbits\n")
  set(symbols "")
  set(rows "")
  set(number 0)
  foreach(name IN LISTS names)
    get_property(from GLOBAL PROPERTY TESSERA_CODE_OF_${name})
    set(patch "{}")
    if(from OR name IN_LIST TESSERA_PATCHED)
      set(patch "text(tessera_patch_${number}, tessera_patch_${number}_end)")
    endif()
    if(from)  # the code of another image, which stands before this one
      list(FIND names ${from} place)
      set(image tessera_image_${place})
    else()
      set(from ${name})
      set(image tessera_image_${number})
      embed_file(${image} ${name}.packed)
    endif()
    if(NOT patch STREQUAL "{}")
      embed_file(tessera_patch_${number} ${from}.patch)
    endif()
    get_property(portable GLOBAL PROPERTY TESSERA_PORTABLE_${from})
    # Cubins of further GPUs are made from the portable PTX.
    set(archs ${TESSERA_CUBIN_ARCHS})
    if(portable EQUAL 0)
      list(SUBLIST archs 0 1 archs)
      set(portable "")
    else()
      set(portable compute_${portable})
    endif()
    list(JOIN archs "\", \"" archs)
    string(APPEND rows "      {\"${name}\", text(${image}, ${image}_end), \"${portable}\",\n"
                       "       {\"${archs}\"}, ${patch}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  string(APPEND assembly ".section .note.GNU-stack, \"\", @progbits\n")

  set(TESSERA_IMAGE_SYMBOLS "${symbols}")
  set(TESSERA_IMAGE_ROWS "${rows}")
  configure_file(${CMAKE_SOURCE_DIR}/cmake/images.cpp.in ${CMAKE_BINARY_DIR}/images/images.cpp @ONLY)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/images/images.S CONTENT "${assembly}")
  set_source_files_properties(${CMAKE_BINARY_DIR}/images/images.S
                              PROPERTIES OBJECT_DEPENDS "${files}")
  add_library(${library} STATIC ${CMAKE_BINARY_DIR}/images/images.cpp
                                ${CMAKE_BINARY_DIR}/images/images.S)
  target_include_directories(${library} PUBLIC ${CMAKE_SOURCE_DIR}/src)
endfunction()
