# Every library the project links, found once. Why each was chosen: docs/decisions/.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(Eigen3 REQUIRED CONFIG)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(ZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(JPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(SPNG REQUIRED IMPORTED_TARGET spng)
pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp libwebpdemux)
pkg_check_modules(RSVG REQUIRED IMPORTED_TARGET librsvg-2.0 cairo)
pkg_check_modules(LBFGS REQUIRED IMPORTED_TARGET liblbfgs)
include(cmake/image_formats.cmake)
include(cmake/find_dnnl.cmake)
include(cmake/find_svm.cmake)
include(cmake/onnxruntime.cmake)

function(annulus_link_dependencies target)
  target_link_libraries(${target} PUBLIC fmt::fmt Threads::Threads)
  # Linked but not seen in any installed header.
  target_link_libraries(${target} PRIVATE annulus_dnnl PkgConfig::HWY PkgConfig::ZIP PkgConfig::CURL
                        PkgConfig::CRYPTO PkgConfig::JPEG PkgConfig::SPNG PkgConfig::WEBP PkgConfig::RSVG PkgConfig::LBFGS
                        annulus_liblinear annulus_libsvm ${CMAKE_DL_LIBS})
  annulus_link_image_formats(${target})
  # Headers alone, read by sources alone: users of the installed package need not have them.
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:Eigen3::Eigen> $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  if(ANNULUS_WITH_VISION)
    target_include_directories(${target} SYSTEM PRIVATE ${ANNULUS_ONNXRUNTIME_INCLUDE_DIR})
  endif()
endfunction()
