# Finds ONNX Runtime's C header (ANNULUS_ONNXRUNTIME_INCLUDE_DIR) and sets the option ANNULUS_WITH_VISION. The shared library itself is
# opened when the first backbone is (annulus/vision/backbone/onnxruntime.cpp), so building needs the header only, and a program built
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

option(ANNULUS_WITH_VISION "Read images, by ONNX Runtime (its C header is downloaded where it is missing)" ON)

if(ANNULUS_WITH_VISION)
  if(NOT ANNULUS_ONNXRUNTIME_INCLUDE_DIR)
    execute_process(COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/scripts/fetch onnxruntime-headers
                    OUTPUT_VARIABLE annulus_fetched ERROR_VARIABLE annulus_why OUTPUT_STRIP_TRAILING_WHITESPACE)
    find_path(ANNULUS_ONNXRUNTIME_INCLUDE_DIR onnxruntime_c_api.h PATHS "${annulus_fetched}" NO_DEFAULT_PATH)
  endif()
  if(NOT ANNULUS_ONNXRUNTIME_INCLUDE_DIR)
    message(FATAL_ERROR "Reading images needs onnxruntime_c_api.h, which could not be downloaded:\n${annulus_why}"
                        "Set ANNULUS_ONNXRUNTIME_INCLUDE_DIR to the folder that holds it, or -DANNULUS_WITH_VISION=OFF to build a "
                        "program that reads feature files only.")
  endif()
else()
  message(STATUS "Reading images is left out of this build, as ANNULUS_WITH_VISION=OFF asks")
endif()
