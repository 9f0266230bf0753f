# Installs the library, the headers that annulus/annulus.h needs, the program and the CMake package (find_package(annulus)).
include(CMakePackageConfigHelpers)

install(TARGETS annulus EXPORT annulus_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(header IN LISTS ANNULUS_PUBLIC_HEADERS)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
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
# The program runs the fetch script itself (annulus/pipeline/download/download.cpp): installed with it, and beside it in the build folder.
install(PROGRAMS scripts/fetch DESTINATION ${CMAKE_INSTALL_DATADIR}/annulus)
install(FILES scripts/tarballs.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/annulus)
configure_file(scripts/fetch ${CMAKE_BINARY_DIR}/share/annulus/fetch COPYONLY)
configure_file(scripts/tarballs.txt ${CMAKE_BINARY_DIR}/share/annulus/tarballs.txt COPYONLY)
# The unit names the program by its whole path, which is known when it is installed (cmake --install --prefix).
install(CODE "
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
  set(CMAKE_INSTALL_FULL_BINDIR \"\${prefix}/${CMAKE_INSTALL_BINDIR}\")
  configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/share/systemd/annulus.service.in\"
                 \"\$ENV{DESTDIR}\${prefix}/${CMAKE_INSTALL_DATADIR}/annulus/systemd/annulus.service\" @ONLY)")
