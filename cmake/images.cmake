# Images: kernels compiled device-only, into one file beside the binaries (catalog/image_pack.h). CMake's
# CUDA language plays no part; nvcc is one more command that writes files. src/catalog/manifest.txt says
# which images there are, and nothing else does.
#
# add_image(NAME SOURCE PORTABLE SPILLS)
#     NAME.cu            the kernel plus one extern "C" entry a config, by generate_entries
#     NAME.ptx           for compute_90a, with source lines; the virtual GPU runs it
#     NAME.sm_90a.cubin  made from that PTX; one more for each further entry of TESSERA_CUBIN_ARCHS
#     NAME.portable.ptx  for older cards; the driver compiles it there. PORTABLE 0: empty, since the
#                        kernel needs what sm_90a alone has
#     NAME.text, .code   the PTX texts packed, and the cubins
#     NAME.inputs        the files that these were made from
#     The build stops where ptxas serialises wgmma, or where a main loop spills more than SPILLS registers.
# patch_image(NAME)      the cubin of an image patched, for each kernel that TESSERA_PATCHED names and for
#                        images that the manifest calls patched
#     NAME.patched.cubin, .from, .txt   by patch_cubin: FFMAs reordered, the hash of what they were
#                                       made from, the proof. Empty cubin: not proved, and .txt says why
#     NAME.patch         these three in one
# add_images()           all of the manifest, and two targets that write tessera.images:
#     shown_images       builds what `make run` shows, the default config of each rung
#     images             builds all
# add_embedded_pack(TARGET)   all images inside of TARGET, which then reads no file
set(TESSERA_CUBIN_ARCHS sm_90a CACHE STRING
    "Architectures to compile cubins for: the first from the sm_90a PTX, others from the portable PTX")
set(TESSERA_PATCHED "simt_f32;simt_f32_direct" CACHE STRING
    "Kernels whose cubins are patched: a GPU of SM 9.0 runs those (docs/sass-patching.md)")
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

set(TESSERA_MANIFEST ${CMAKE_SOURCE_DIR}/src/catalog/manifest.txt)

function(add_image name source portable spills)
  set(stem ${CMAKE_BINARY_DIR}/images/${name})
  list(TRANSFORM TESSERA_CUBIN_ARCHS REPLACE "(.+)" "${stem}.\\1.cubin" OUTPUT_VARIABLE cubins)
  set(texts ${stem}.ptx ${stem}.portable.ptx)
  list(GET TESSERA_CUBIN_ARCHS 0 first_arch)

  # The byproduct makes Ninja compare the .cu before and after: unchanged entries rebuild nothing.
  add_custom_command(
    OUTPUT ${stem}.cu BYPRODUCTS ${stem}.cu.checked
    COMMAND generate_entries ${TESSERA_MANIFEST} ${name} ${stem}.cu
    COMMAND ${CMAKE_COMMAND} -E touch ${stem}.cu.checked
    DEPENDS generate_entries ${TESSERA_MANIFEST}
    COMMENT "Entries of ${name}" VERBATIM)
  add_custom_command(
    OUTPUT ${texts} ${cubins}
    COMMAND ${CMAKE_SOURCE_DIR}/tools/build/compile_image.sh ${TESSERA_NVCC} ${CMAKE_SOURCE_DIR}
            ${TESSERA_GENERATED} ${stem} ${portable} ${TESSERA_CUBIN_ARCHS}
    DEPENDS ${stem}.cu ${CMAKE_SOURCE_DIR}/tools/build/compile_image.sh
    DEPFILE ${stem}.d
    COMMENT "Image of ${name}" VERBATIM)
  add_custom_command(
    OUTPUT ${stem}.code ${stem}.text
    COMMAND check_cubin ${stem}.${first_arch}.cubin ${spills}
    COMMAND pack_files ${stem}.text ${texts}
    COMMAND pack_files ${stem}.code ${cubins}
    DEPENDS check_cubin pack_files ${texts} ${cubins}
    COMMENT "Packing ${name}" VERBATIM)
endfunction()

function(patch_image name)
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
endfunction()

# What each line "image NAME ..." of the manifest says: TESSERA_IMAGE_FILES, TESSERA_SHOWN_IMAGE_FILES.
function(add_images_of_manifest)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TESSERA_MANIFEST})
  file(STRINGS ${TESSERA_MANIFEST} lines REGEX "^image ")
  foreach(line IN LISTS lines)
    string(REPLACE " " ";" words "${line}")
    list(POP_FRONT words key name)
    cmake_parse_arguments(IMAGE "shown" "source;portable;spills;patched_from" "" ${words})
    string(REGEX REPLACE "__.*" "" kernel ${name})
    if(IMAGE_patched_from)
      patch_image(${IMAGE_patched_from})
      set(files ${CMAKE_BINARY_DIR}/images/${IMAGE_patched_from}.patch)
    else()
      add_image(${name} ${IMAGE_source} ${IMAGE_portable} ${IMAGE_spills})
      set(files ${CMAKE_BINARY_DIR}/images/${name}.code ${CMAKE_BINARY_DIR}/images/${name}.text)
      if(kernel IN_LIST TESSERA_PATCHED)
        patch_image(${name})
        list(APPEND files ${CMAKE_BINARY_DIR}/images/${name}.patch)
      endif()
    endif()
    list(APPEND all ${files})
    if(IMAGE_shown)
      list(APPEND shown ${files})
    endif()
  endforeach()
  set(TESSERA_IMAGE_FILES ${all} PARENT_SCOPE)
  set(TESSERA_SHOWN_IMAGE_FILES ${shown} PARENT_SCOPE)
endfunction()

function(add_images)
  add_images_of_manifest()
  set(commit ${CMAKE_BINARY_DIR}/commit/commit.txt)
  set(write_commit ${CMAKE_SOURCE_DIR}/tools/build/write_commit.sh ${CMAKE_SOURCE_DIR} ${commit})
  string(REPLACE ";" "$<SEMICOLON>" archs "${TESSERA_CUBIN_ARCHS}")
  string(REPLACE ";" "$<SEMICOLON>" patched "${TESSERA_PATCHED}")
  set(from ${TESSERA_MANIFEST} ${CMAKE_BINARY_DIR}/images "${archs}" "${patched}" ${commit})
  # WHY: the file is written by two targets, which is none of Ninja's business; so they always run, and
  # leave an equal file alone. What has become stale since it was built is left out.
  set(pack ${CMAKE_BINARY_DIR}/tessera.images ${from})
  add_custom_target(shown_images COMMAND ${write_commit} COMMAND pack_images ${pack}
                    DEPENDS ${TESSERA_SHOWN_IMAGE_FILES} VERBATIM)
  add_custom_target(images ALL COMMAND ${write_commit} COMMAND pack_images --all ${pack}
                    DEPENDS ${TESSERA_IMAGE_FILES} VERBATIM)
  add_dependencies(images shown_images)
  # For add_embedded_pack; nothing builds it otherwise.
  add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/images/embedded.images
    COMMAND ${write_commit}
    COMMAND pack_images --all ${CMAKE_BINARY_DIR}/images/embedded.images ${from}
    DEPENDS pack_images ${TESSERA_MANIFEST} ${TESSERA_IMAGE_FILES}
    COMMENT "Packing all images" VERBATIM)
  add_custom_target(embedded_images DEPENDS ${CMAKE_BINARY_DIR}/images/embedded.images)
endfunction()

function(add_embedded_pack target)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/cmake/embedded_pack.S PROPERTIES
    COMPILE_OPTIONS "-Wa,-I${CMAKE_BINARY_DIR}/images"
    OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/images/embedded.images)
  target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/embedded_pack.S)
  add_dependencies(${target} embedded_images)
endfunction()
