# Packages by cpack: a Debian package, and a tarball that runs from any folder. scripts/stage-package adds to each what a plain
# installation leaves out; scripts/build-package builds everything that they need and calls cpack.
if(NOT PROJECT_IS_TOP_LEVEL OR NOT ANNULUS_BUILD_CLI)
  return()
endif()
set(ANNULUS_PACKAGE_CONTACT "Annulus maintainers <maintainers@annulus.invalid>" CACHE STRING "Name and address of who is responsible for the packages")

set(CPACK_PACKAGE_NAME annulus)
set(CPACK_PACKAGE_VENDOR "Annulus maintainers")
set(CPACK_PACKAGE_CONTACT ${ANNULUS_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "few-shot image recognition on an ordinary CPU")
set(CPACK_PACKAGE_DESCRIPTION
    "Annulus learns many classes from a few labelled photos each, without a
graphics card, and says when a photo shows none of them. The package has the
program annulus with its local web page for photos, an HTTP service, a library
for C++ and the Python package annulus.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES OFF)  # scripts/stage-package strips, with the program that Debian's policy wants
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "npm, openmpi-bin")  # downloads of some networks; fits on several computers
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_SOURCE_DIR}/share/debian/postinst ${CMAKE_CURRENT_SOURCE_DIR}/share/debian/prerm ${CMAKE_CURRENT_SOURCE_DIR}/share/debian/postrm)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/package_of_generator.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/stage_package.cmake)
set(CPACK_ANNULUS_SOURCE ${CMAKE_CURRENT_SOURCE_DIR})
set(CPACK_ANNULUS_BUILD ${CMAKE_BINARY_DIR})
include(CPack)
