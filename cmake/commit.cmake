# add_commit(TARGET)   gives TARGET build_commit(): one small file, written anew by each build whose
# commit is another one, and a dependence of nothing but TARGET.
function(add_commit target)
  set(file ${CMAKE_BINARY_DIR}/commit/commit.cpp)
  add_custom_target(${target}_commit
    COMMAND ${CMAKE_SOURCE_DIR}/tools/build/write_commit.sh ${CMAKE_SOURCE_DIR} ${file}
    BYPRODUCTS ${file}
    COMMENT "" VERBATIM)
  target_sources(${target} PRIVATE ${file})
  add_dependencies(${target} ${target}_commit)
endfunction()
