# Every library the project links, found once. Why each was chosen: docs/decisions/.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(ZIP REQUIRED IMPORTED_TARGET libzip)
include(cmake/find_dnnl.cmake)

function(annulus_link_dependencies target)
  target_link_libraries(${target} PUBLIC fmt::fmt Threads::Threads)
  # Linked but not seen in any installed header.
  target_link_libraries(${target} PRIVATE annulus_dnnl PkgConfig::HWY PkgConfig::ZIP nlohmann_json::nlohmann_json
                        ${CMAKE_DL_LIBS})
endfunction()
