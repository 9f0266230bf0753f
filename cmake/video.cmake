# libav, for frames of videos. Required unless it is left out; a build without it still knows videos, and says which packages would
# bring it (docs/decisions/0178-videos-by-libav.md).
option(ANNULUS_WITH_VIDEO "Read frames of videos" ON)
set(annulus_video_modules libavformat libavcodec libswscale libavutil)
set(ANNULUS_FIND_VIDEO "")
if(ANNULUS_WITH_VIDEO)
  pkg_check_modules(LIBAV IMPORTED_TARGET ${annulus_video_modules})
  if(NOT LIBAV_FOUND)
    message(FATAL_ERROR "libav is missing: install the packages of scripts/packages.txt, or build with -DANNULUS_WITH_VIDEO=OFF")
  endif()
  # For the installed package, which has to find the same libraries.
  list(JOIN annulus_video_modules " " modules)
  set(ANNULUS_FIND_VIDEO "pkg_check_modules(LIBAV REQUIRED IMPORTED_TARGET ${modules})\n")
endif()

# Links libav. What reads videos knows by the definition that it may.
function(annulus_link_video target)
  if(ANNULUS_WITH_VIDEO)
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:PkgConfig::LIBAV>)
    set_property(SOURCE ${PROJECT_SOURCE_DIR}/annulus/vision/video/video.cpp TARGET_DIRECTORY ${target}
                 APPEND PROPERTY INCLUDE_DIRECTORIES ${LIBAV_INCLUDE_DIRS})
    set_property(SOURCE ${PROJECT_SOURCE_DIR}/annulus/vision/video/video.cpp ${PROJECT_SOURCE_DIR}/annulus/vision/video/video_type.cpp
                 TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_DEFINITIONS ANNULUS_WITH_LIBAV)
  endif()
endfunction()
