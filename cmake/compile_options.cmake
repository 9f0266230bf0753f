# Warnings and sanitizers, the same for every target of the project.
function(annulus_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                         -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference -Wcast-align -Wunused)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # gcc 12 reports null dereferences and overlapping copies inside the standard library's own inlined code at -O2
    # and above (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-null-dereference -Wno-restrict)
    if(CMAKE_UNITY_BUILD)
      # Takes a source file that is compiled together with others for a header.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
    if(ANNULUS_SANITIZE)
      # Code that a sanitizer has added to hides from the compiler what is initialised; the release build looks for this.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
  endif()
  if(ANNULUS_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # Results must not depend on how a compiler fuses a*b+c; vector code asks for fused operations by name.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  # Kernels are built for the instruction sets that pay: AVX-512, AVX2, SSE4 and plain. Sanitizers, under which a kernel
  # takes minutes to compile, watch AVX2 and plain; fuzzers do not need them.
  if(ANNULUS_BUILD_FUZZ)
    target_compile_definitions(${target} PRIVATE HWY_COMPILE_ONLY_STATIC)
  elseif(ANNULUS_SANITIZE)
    target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL)")
  else()
    target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL)")
  endif()
  if(ANNULUS_SANITIZE)
    target_link_options(${target} PUBLIC -fsanitize=${ANNULUS_SANITIZE})
    # The address sanitizer watches what is tested, not the tests, which would take twice as long to compile. Threads
    # must be watched everywhere.
    if(NOT (target MATCHES "_test$" AND ANNULUS_SANITIZE MATCHES "address"))
      target_compile_options(${target} PRIVATE -fsanitize=${ANNULUS_SANITIZE} -fno-omit-frame-pointer
                             -fno-sanitize-recover=all)
    endif()
    if(ANNULUS_SANITIZE MATCHES "address,undefined")
      # What these find, the address sanitizer finds too; they double the time to compile.
      target_compile_options(${target} PRIVATE -fno-sanitize=null,object-size,vptr)
      if(NOT ANNULUS_BUILD_FUZZ)
        # A third of the time to compile. Readers, which they are about, are compiled with them for the fuzzers.
        target_compile_options(${target} PRIVATE -fno-sanitize=alignment,pointer-overflow)
      endif()
    endif()
  endif()
endfunction()
