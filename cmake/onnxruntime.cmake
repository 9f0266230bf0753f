# Finds ONNX Runtime's C header (ANNULUS_ONNXRUNTIME_INCLUDE_DIR) and sets the option ANNULUS_WITH_VISION. The shared library itself is
# opened when the first backbone is (annulus/vision/onnxruntime.cpp), so building needs the header only, and a program built
# here runs on machines without it. A header installed system-wide is preferred to one that scripts/fetch put into the cache.
set(annulus_cache "$ENV{ANNULUS_CACHE}")
if(annulus_cache STREQUAL "")
  set(annulus_cache "$ENV{XDG_CACHE_HOME}")
  if(annulus_cache STREQUAL "")
    set(annulus_cache "$ENV{HOME}/.cache")
  endif()
  string(APPEND annulus_cache "/annulus")
endif()

find_path(ANNULUS_ONNXRUNTIME_INCLUDE_DIR onnxruntime_c_api.h
          PATH_SUFFIXES onnxruntime onnxruntime/core/session
          DOC "Folder that holds onnxruntime_c_api.h")
find_path(ANNULUS_ONNXRUNTIME_INCLUDE_DIR onnxruntime_c_api.h PATHS "${annulus_cache}/onnxruntime-headers" NO_DEFAULT_PATH)
mark_as_advanced(ANNULUS_ONNXRUNTIME_INCLUDE_DIR)

set(vision_default OFF)
if(ANNULUS_ONNXRUNTIME_INCLUDE_DIR)
  set(vision_default ON)
endif()
option(ANNULUS_WITH_VISION "Run image backbones by ONNX Runtime (needs its C header: scripts/fetch onnxruntime-headers)" ${vision_default})

if(ANNULUS_WITH_VISION)
  if(NOT ANNULUS_ONNXRUNTIME_INCLUDE_DIR)
    message(FATAL_ERROR "ANNULUS_WITH_VISION needs onnxruntime_c_api.h: run scripts/fetch onnxruntime-headers, or set "
                        "ANNULUS_ONNXRUNTIME_INCLUDE_DIR.")
  endif()
else()
  message(STATUS "Image backbones are left out of this build: no onnxruntime_c_api.h (scripts/fetch onnxruntime-headers)")
endif()
