# NVIDIA fatbins: code-objects/<architecture>/<op>.ptx and .cubin, one build edge each, joined to code-objects/<op>.fatbin.
#
# Sets HIPOPS_CUDA_BUILT (architectures that are built) and, by op, HIPOPS_FATBIN_<op>.

set(HIPOPS_CUDA_BUILT)
if(HIPOPS_CUDA)
  find_program(HIPOPS_NVCC nvcc PATHS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
  if(HIPOPS_NVCC)
    get_filename_component(hipops_cuda_bin ${HIPOPS_NVCC} DIRECTORY)
    find_program(HIPOPS_FATBINARY fatbinary HINTS ${hipops_cuda_bin})
    # Each compiler release drops old architectures and adds others.
    execute_process(COMMAND ${HIPOPS_NVCC} --list-gpu-code OUTPUT_VARIABLE known_code ERROR_QUIET)
    execute_process(COMMAND ${HIPOPS_NVCC} --list-gpu-arch OUTPUT_VARIABLE known_ptx ERROR_QUIET)
    string(REGEX MATCHALL "[a-z]+_[0-9a-z]+" known "${known_code} ${known_ptx}")
    set(missing "")
    foreach(architecture ${HIPOPS_CUDA_ARCHITECTURES})
      if(architecture IN_LIST known)
        list(APPEND HIPOPS_CUDA_BUILT ${architecture})
      else()
        list(APPEND missing ${architecture})
      endif()
    endforeach()
    # The smallest form needs a driver of CUDA 12.4. The code of a CUDA 13 compiler needs that driver, too.
    set(hipops_fatbin_form)
    execute_process(COMMAND ${HIPOPS_NVCC} --version OUTPUT_VARIABLE nvcc_version)
    if(nvcc_version MATCHES "release ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 13)
      set(hipops_fatbin_form --compress-mode=size)
    endif()
    message(STATUS "hipops: NVIDIA fatbins by ${HIPOPS_NVCC} for ${HIPOPS_CUDA_BUILT}")
    hipops_leave_out(HIPOPS_CUDA "${hipops_named_architectures}" "${HIPOPS_CUDA_BUILT}" "${missing}" "this nvcc does not know")
  elseif(HIPOPS_CUDA STREQUAL "AUTO")
    message(STATUS "hipops: no NVIDIA fatbins: nvcc not found")
  else()
    message(FATAL_ERROR "hipops: HIPOPS_CUDA is ON, but nvcc was not found")
  endif()
endif()

# The architecture of the PTX from which sm_<number> is assembled. To compile kernels needs four times the time of
# assembling them. Kernels distinguish three by __CUDA_ARCH__: sm_80; sm_90, the last with fast f64 on every GPU that
# runs its code; and later architectures.
function(hipops_ptx_for out number)
  set(${out} compute_${number} PARENT_SCOPE)
  foreach(shared 80 90 100)
    if(number GREATER_EQUAL ${shared} AND known_ptx MATCHES "compute_${shared}\n")
      set(${out} compute_${shared} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

function(hipops_compile_ptx op architecture)
  set(file ${hipops_code_folder}/${architecture}/${op}.ptx)
  file(MAKE_DIRECTORY ${hipops_code_folder}/${architecture})
  add_custom_command(OUTPUT ${file}
    COMMAND ${HIPOPS_NVCC} -ptx -arch=${architecture} -x cu -std=c++17 -O3 -I ${PROJECT_SOURCE_DIR}/kernels
      -MD -MF ${file}.d -MT code-objects/${architecture}/${op}.ptx ${PROJECT_SOURCE_DIR}/kernels/${op}.hip -o ${file}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    DEPENDS ${PROJECT_SOURCE_DIR}/kernels/${op}.hip
    DEPFILE ${file}.d
    COMMENT "${op} for ${architecture}" VERBATIM)
endfunction()

set(HIPOPS_FATBINS)
if(HIPOPS_CUDA_BUILT)
  foreach(op ${HIPOPS_OPS})
    set(files)
    set(images)
    set(compiled)
    foreach(architecture ${HIPOPS_CUDA_BUILT})
      string(REGEX REPLACE "^.*_" "" number ${architecture})
      set(ptx ${architecture})
      if(architecture MATCHES "^sm_")
        hipops_ptx_for(ptx ${number})
      endif()
      if(NOT ptx IN_LIST compiled)
        hipops_compile_ptx(${op} ${ptx})
        list(APPEND compiled ${ptx})
      endif()
      set(kind ptx)
      set(file ${hipops_code_folder}/${ptx}/${op}.ptx)
      if(architecture MATCHES "^sm_")
        set(kind elf)
        set(file ${hipops_code_folder}/${architecture}/${op}.cubin)
        file(MAKE_DIRECTORY ${hipops_code_folder}/${architecture})
        add_custom_command(OUTPUT ${file}
          COMMAND ${HIPOPS_NVCC} -cubin -arch=${architecture} -O3 ${hipops_code_folder}/${ptx}/${op}.ptx -o ${file}
          DEPENDS ${hipops_code_folder}/${ptx}/${op}.ptx
          COMMENT "${op} for ${architecture}" VERBATIM)
      endif()
      list(APPEND files ${file})
      list(APPEND images --image3=kind=${kind},sm=${number},file=${file})
    endforeach()
    set(fatbin ${hipops_code_folder}/${op}.fatbin)
    add_custom_command(OUTPUT ${fatbin}
      COMMAND ${HIPOPS_FATBINARY} --create=${fatbin} -64 --compress-all ${hipops_fatbin_form} ${images}
      DEPENDS ${files} COMMENT "fatbin of ${op}" VERBATIM)
    set(HIPOPS_FATBIN_${op} ${fatbin})
    list(APPEND HIPOPS_FATBINS ${fatbin})
  endforeach()
endif()
