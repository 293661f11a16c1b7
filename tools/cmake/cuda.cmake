# NVIDIA fatbins: code-objects/<architecture>/<op>.cubin or .ptx, one build edge each, joined to code-objects/<op>.fatbin.
#
# Sets HIPOPS_CUDA_BUILT (architectures that are built) and, by op, HIPOPS_FATBIN_<op>.

set(HIPOPS_CUDA_BUILT)
if(HIPOPS_CUDA)
  find_program(HIPOPS_NVCC nvcc PATHS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
  if(HIPOPS_NVCC)
    get_filename_component(hipops_cuda_bin ${HIPOPS_NVCC} DIRECTORY)
    find_program(HIPOPS_FATBINARY fatbinary HINTS ${hipops_cuda_bin})
    # Each compiler release drops old architectures and adds new ones.
    execute_process(COMMAND ${HIPOPS_NVCC} --list-gpu-code OUTPUT_VARIABLE known_code ERROR_QUIET)
    execute_process(COMMAND ${HIPOPS_NVCC} --list-gpu-arch OUTPUT_VARIABLE known_ptx ERROR_QUIET)
    set(known "${known_code}\n${known_ptx}\n")
    foreach(architecture ${HIPOPS_CUDA_ARCHITECTURES})
      if(known MATCHES "${architecture}\n")
        list(APPEND HIPOPS_CUDA_BUILT ${architecture})
      else()
        list(APPEND missing ${architecture})
      endif()
    endforeach()
    # The smallest form takes a driver of CUDA 12.4, which what a compiler of CUDA 13 makes needs anyway.
    set(hipops_fatbin_form)
    execute_process(COMMAND ${HIPOPS_NVCC} --version OUTPUT_VARIABLE nvcc_version)
    if(nvcc_version MATCHES "release ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 13)
      set(hipops_fatbin_form --compress-mode=size)
    endif()
    message(STATUS "hipops: NVIDIA fatbins by ${HIPOPS_NVCC} for ${HIPOPS_CUDA_BUILT}")
    if(missing)
      message(STATUS "hipops: left out, as this nvcc does not know them: ${missing}")
    endif()
  elseif(HIPOPS_CUDA STREQUAL "AUTO")
    message(STATUS "hipops: no NVIDIA fatbins: nvcc not found")
  else()
    message(FATAL_ERROR "hipops: HIPOPS_CUDA is ON, but nvcc was not found")
  endif()
endif()

set(HIPOPS_FATBINS)
if(HIPOPS_CUDA_BUILT)
  foreach(op ${HIPOPS_OPS})
    set(files)
    set(images)
    foreach(architecture ${HIPOPS_CUDA_BUILT})
      string(REGEX REPLACE "^.*_" "" number ${architecture})
      if(architecture MATCHES "^sm_")
        set(kind elf)
        set(flags -cubin -arch=${architecture})
        set(file ${hipops_objects}/${architecture}/${op}.cubin)
      else()
        set(kind ptx)
        set(flags -ptx -arch=${architecture})
        set(file ${hipops_objects}/${architecture}/${op}.ptx)
      endif()
      file(MAKE_DIRECTORY ${hipops_objects}/${architecture})
      add_custom_command(OUTPUT ${file}
        COMMAND ${HIPOPS_NVCC} ${flags} -x cu -std=c++17 -O3 -I ${PROJECT_SOURCE_DIR}/kernels -MD -MF ${file}.d
          ${PROJECT_SOURCE_DIR}/kernels/${op}.hip -o ${file}
        DEPENDS ${PROJECT_SOURCE_DIR}/kernels/${op}.hip
        DEPFILE ${file}.d
        COMMENT "${op} for ${architecture}" VERBATIM)
      list(APPEND files ${file})
      list(APPEND images --image3=kind=${kind},sm=${number},file=${file})
    endforeach()
    set(fatbin ${hipops_objects}/${op}.fatbin)
    add_custom_command(OUTPUT ${fatbin}
      COMMAND ${HIPOPS_FATBINARY} --create=${fatbin} -64 --compress-all ${hipops_fatbin_form} ${images}
      DEPENDS ${files} COMMENT "fatbin of ${op}" VERBATIM)
    set(HIPOPS_FATBIN_${op} ${fatbin})
    list(APPEND HIPOPS_FATBINS ${fatbin})
  endforeach()
endif()
