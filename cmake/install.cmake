# Installs the library, its headers, the program and the CMake package (find_package(annulus)).
include(CMakePackageConfigHelpers)

install(TARGETS annulus EXPORT annulus_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY annulus/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/annulus FILES_MATCHING PATTERN "*.h"
        PATTERN "*-inl.h" EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/generated/annulus/base/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/annulus/base)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY share/slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/annulus)
install(EXPORT annulus_targets NAMESPACE annulus:: FILE annulus-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/annulus)
configure_package_config_file(cmake/annulus-config.cmake.in ${CMAKE_BINARY_DIR}/annulus-config.cmake
        INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/annulus)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/annulus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/annulus-config.cmake ${CMAKE_BINARY_DIR}/annulus-config-version.cmake
        cmake/find_dnnl.cmake cmake/find_svm.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/annulus)
# The program runs the fetch script itself (annulus/store/fetch.cpp): installed with it, and beside it in the build folder.
install(PROGRAMS scripts/fetch DESTINATION ${CMAKE_INSTALL_DATADIR}/annulus)
install(FILES scripts/tarballs.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/annulus)
configure_file(scripts/fetch ${CMAKE_BINARY_DIR}/share/annulus/fetch COPYONLY)
configure_file(scripts/tarballs.txt ${CMAKE_BINARY_DIR}/share/annulus/tarballs.txt COPYONLY)
