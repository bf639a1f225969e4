# What a user gets: the library with its headers, for CMake (find_package(tessera)) and pkg-config,
# and the command line with its images. `cmake --install`, and CPack for a .deb.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(tessera_library PROPERTIES EXPORT_NAME tessera)
install(TARGETS tessera_library EXPORT tessera_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(FILES include/tessera/gemm.h include/tessera/gemm.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera COMPONENT development)
install(TARGETS tessera RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
# Where the program looks for its images if they do not lie beside it (catalog/own_images.cpp).
install(FILES ${CMAKE_BINARY_DIR}/tessera.images DESTINATION share/tessera COMPONENT tools)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
install(EXPORT tessera_targets NAMESPACE tessera:: DESTINATION ${package_folder}
        FILE tessera-targets.cmake COMPONENT development)
file(WRITE ${CMAKE_BINARY_DIR}/tessera-config.cmake
     "include(\${CMAKE_CURRENT_LIST_DIR}/tessera-targets.cmake)\n")
# Until 1.0 a new minor release may change the interface.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tessera-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tessera-config.cmake
              ${CMAKE_BINARY_DIR}/tessera-config-version.cmake
        DESTINATION ${package_folder} COMPONENT development)
# WHY: relative, so that the tree may stand anywhere.
file(RELATIVE_PATH from_pc_to_prefix /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig /usr)
configure_file(cmake/tessera.pc.in ${CMAKE_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tessera.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_CONTACT "The Tessera authors <tessera@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "matrix products on NVIDIA GPUs, and the laboratory beside them")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36)")  # as the tag of the wheel; package-test compares
# WHY: loaded at run time, each of them; the driver comes from NVIDIA's packages.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libopenblas0-pthread)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/triggers)
file(WRITE ${CMAKE_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
include(CPack)
