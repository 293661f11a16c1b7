# AMD code objects: code-objects/<target>/<op>.co, one build edge each, bundled to code-objects/<op>.hipfb. Targets of
# one instruction set are compiled once, for the generic target, and each is assembled from that. This saves four of
# thirteen compilations.
#
# The compiler is ROCm's own if it exists (ROCM_PATH, or /opt/rocm). It needs no options. Otherwise it is a
# distribution's clang with the device libraries of the package rocm-device-libs. hipops_complete_device_libraries adds
# the files that clang expects.
#
# Sets HIPOPS_AMD_BUILT (targets that are built) and, by op, HIPOPS_BUNDLE_<op>.

set(HIPOPS_AMD_BUILT)

# The number of a target in ocml: 942 -> 9402. A generic target has the lowest number of its family.
function(hipops_isa_version target out)
  string(REGEX REPLACE "^gfx" "" name ${target})
  if(name MATCHES "^([0-9]+)(-([0-9]))?-generic$")
    set(version "${CMAKE_MATCH_1}0")
    if(CMAKE_MATCH_3)
      set(version "${CMAKE_MATCH_1}${CMAKE_MATCH_3}")
    endif()
    string(APPEND version "00")
  else()
    string(REGEX REPLACE "^(.*)(.)$" "\\1" major ${name})
    string(REGEX REPLACE "^(.*)(.)$" "\\2" stepping ${name})
    math(EXPR stepping "0x${stepping}")
    set(version "${major}0${stepping}")
    if(stepping GREATER 9)
      set(version "${major}${stepping}")
    endif()
  endif()
  set(${out} ${version} PARENT_SCOPE)
endfunction()

# The distribution's device libraries are older than its newest clang. They lack files that clang requires: the
# constants for ocml with the target and the code object's version. Each file holds one number.
function(hipops_complete_device_libraries source folder)
  file(MAKE_DIRECTORY ${folder})
  file(GLOB files ${source}/*.bc)
  foreach(file ${files})
    get_filename_component(name ${file} NAME)
    file(CREATE_LINK ${file} ${folder}/${name} SYMBOLIC)
  endforeach()
  set(constants "oclc_abi_version_600:__oclc_ABI_version:600" "oclc_abi_version_400:__oclc_ABI_version:400")
  foreach(target IN LISTS HIPOPS_AMD_TARGETS HIPOPS_DEFAULT_AMD_TARGETS)  # tests compile for the latter, too
    hipops_isa_version(${target} version)
    string(REGEX REPLACE "^gfx" "" name ${target})
    list(APPEND constants "oclc_isa_version_${name}:__oclc_ISA_version:${version}")
  endforeach()
  foreach(constant ${constants})
    string(REPLACE ":" ";" parts ${constant})
    list(GET parts 0 file)
    list(GET parts 1 symbol)
    list(GET parts 2 value)
    if(NOT EXISTS ${folder}/${file}.bc)
      file(WRITE ${folder}/${file}.ll "target triple = \"amdgcn-amd-amdhsa\"\n\
@${symbol} = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 ${value}, align 4\n")
      execute_process(COMMAND ${HIPOPS_LLVM_AS} ${folder}/${file}.ll -o ${folder}/${file}.bc COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endforeach()
endfunction()

# HIPOPS_AMD_COMPILE: the command that makes a code object, without target, input and output. It runs in the build
# folder, and its paths are relative to that folder, so that a compiler cache (HIPOPS_AMD_LAUNCHER) can reuse results of
# another clone.
function(hipops_find_amd_compiler)
  set(rocm $ENV{ROCM_PATH})
  if(NOT rocm)
    set(rocm /opt/rocm)
  endif()
  find_program(HIPOPS_ROCM_CLANG NAMES amdclang++ clang++ PATHS ${rocm}/llvm/bin ${rocm}/bin NO_DEFAULT_PATH)
  if(HIPOPS_ROCM_CLANG)
    find_program(HIPOPS_OFFLOAD_BUNDLER clang-offload-bundler PATHS ${rocm}/llvm/bin NO_DEFAULT_PATH)
    set(compile ${HIPOPS_ROCM_CLANG} --rocm-path=${rocm})
    set(origin "ROCm at ${rocm}")
  else()
    foreach(version 22 21 20 19 18 17)
      find_program(HIPOPS_CLANG clang-${version})
      if(HIPOPS_CLANG)
        find_program(HIPOPS_LLVM_AS llvm-as-${version})
        find_program(HIPOPS_LLD ld.lld-${version})
        find_program(HIPOPS_OFFLOAD_BUNDLER clang-offload-bundler-${version})
        break()
      endif()
    endforeach()
    file(GLOB ocml /usr/lib/*/amdgcn/bitcode/ocml.bc /usr/lib/clang/*/amdgcn/bitcode/ocml.bc /usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode/ocml.bc)
    if(NOT HIPOPS_CLANG OR NOT HIPOPS_LLVM_AS OR NOT HIPOPS_LLD OR NOT HIPOPS_OFFLOAD_BUNDLER OR NOT ocml)
      return()
    endif()
    list(GET ocml 0 ocml)
    get_filename_component(libraries ${ocml} DIRECTORY)
    set(folder ${PROJECT_BINARY_DIR}/device-libraries)
    hipops_complete_device_libraries(${libraries} ${folder})
    set(compile ${HIPOPS_CLANG} --rocm-device-lib-path=device-libraries -Wno-linker-warnings)
    if(EXISTS ${folder}/oclc_daz_opt_off.bc)
      list(APPEND compile -Xclang -mlink-builtin-bitcode -Xclang device-libraries/oclc_daz_opt_off.bc)
    endif()
    set(origin "${HIPOPS_CLANG}")
  endif()
  if(HIPOPS_CCACHE)
    set(HIPOPS_AMD_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_EXTRAFILES=${ocml} ${HIPOPS_CCACHE} PARENT_SCOPE)
  endif()
  set(HIPOPS_AMD_COMPILE ${compile} -x hip --cuda-device-only --no-gpu-bundle-output -O3 -std=c++17 -fuse-cuid=none -Wall -Wextra
    -ffile-prefix-map=${hipops_source}/= -I ${hipops_source}/kernels PARENT_SCOPE)
  set(HIPOPS_AMD_ORIGIN ${origin} PARENT_SCOPE)
endfunction()

# Every ROCm from 4 on loads code objects of version 4. Only the newest releases load version 6, which generic targets
# need.
function(hipops_code_object_version target out)
  if(target MATCHES "-generic$")
    set(${out} 6 PARENT_SCOPE)
  else()
    set(${out} 4 PARENT_SCOPE)
  endif()
endfunction()

# The command that compiles for a target, without input and output.
function(hipops_compile_for target out)
  hipops_code_object_version(${target} version)
  set(${out} ${HIPOPS_AMD_COMPILE} --offload-arch=${target} -mcode-object-version=${version} PARENT_SCOPE)
endfunction()

# The command that makes a code object from the assembly that is compiled for its own target, or for another.
function(hipops_assemble_for target from out)
  hipops_code_object_version(${target} version)
  list(GET HIPOPS_AMD_COMPILE 0 clang)
  set(${out} ${PROJECT_SOURCE_DIR}/tools/cmake/assemble.sh ${clang} ${from} ${target} ${version} PARENT_SCOPE)
endfunction()

# A code object has no names of places within kernels, because nothing uses them. assemble.sh leaves them out, too.
set(HIPOPS_AMD_LINK -Xoffload-linker --discard-all)

# Keeps the targets that the compiler can build. It builds one small kernel for each. The first kernel includes the
# compiler's headers, and needs a second. The others need a sixth of that.
function(hipops_probe_amd_targets)
  set(folder ${PROJECT_BINARY_DIR}/probe)
  file(WRITE ${folder}/probe.hip "extern \"C\" __attribute__((device)) double __ocml_exp_f64(double);\n"
    "extern \"C\" __attribute__((global)) void probe(double* x) { *x = __ocml_exp_f64(*x); }\n")
  set(built "")
  set(missing "")
  set(headers "")
  foreach(target ${HIPOPS_AMD_TARGETS})
    hipops_compile_for(${target} compile)
    list(APPEND compile ${headers} ${HIPOPS_AMD_LINK})
    set(key "${compile}")
    if(NOT HIPOPS_PROBED_${target} STREQUAL key)
      execute_process(COMMAND ${compile} ${folder}/probe.hip -o ${folder}/${target}.co
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR} RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE error)
      if(result EQUAL 0)
        set(HIPOPS_PROBED_${target} "${key}" CACHE INTERNAL "")
      endif()
    endif()
    if(HIPOPS_PROBED_${target} STREQUAL key)
      list(APPEND built ${target})
      set(headers -nogpuinc)
    else()
      list(APPEND missing ${target})
      file(WRITE ${folder}/${target}.log "${error}")
    endif()
  endforeach()
  set(HIPOPS_AMD_BUILT ${built} PARENT_SCOPE)
  set(HIPOPS_AMD_MISSING ${missing} PARENT_SCOPE)
endfunction()

# Targets whose code differs from a generic target's only in names, with clang 22.
set(HIPOPS_SAME_CODE gfx942=gfx9-4-generic gfx1200=gfx12-generic gfx1201=gfx12-generic
  gfx900=gfx9-generic gfx902=gfx9-generic gfx904=gfx9-generic gfx906=gfx9-generic gfx909=gfx9-generic gfx90c=gfx9-generic
  gfx1010=gfx10-1-generic gfx1011=gfx10-1-generic gfx1012=gfx10-1-generic
  gfx1030=gfx10-3-generic gfx1031=gfx10-3-generic gfx1032=gfx10-3-generic gfx1033=gfx10-3-generic gfx1034=gfx10-3-generic
  gfx1035=gfx10-3-generic gfx1036=gfx10-3-generic gfx1102=gfx11-generic)

# Sets HIPOPS_ASSEMBLED_<target>, for each target that is built, to the generic target with the same assembly. It
# compares two code objects of a small kernel, from the generic target's assembly and from the target's own. They must
# be equal to the byte.
function(hipops_probe_same_code)
  set(folder ${PROJECT_BINARY_DIR}/probe)
  foreach(pair ${HIPOPS_SAME_CODE})
    string(REGEX REPLACE "=.*" "" target ${pair})
    string(REGEX REPLACE ".*=" "" generic ${pair})
    if(NOT target IN_LIST HIPOPS_AMD_BUILT OR NOT generic IN_LIST HIPOPS_AMD_BUILT)
      continue()
    endif()
    set(key "${HIPOPS_AMD_COMPILE} ${generic}")
    if(NOT HIPOPS_PROBED_SAME_${target} STREQUAL key)
      set(failed "")
      foreach(from ${target} ${generic})
        hipops_compile_for(${from} compile)
        hipops_assemble_for(${target} ${from} assemble)
        foreach(command "${compile};-nogpuinc;${folder}/probe.hip;-S;-o;${folder}/${from}.s" "${assemble};${folder}/${from}.s;${folder}/${target}_${from}.co")
          execute_process(COMMAND ${command} WORKING_DIRECTORY ${PROJECT_BINARY_DIR} RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
          if(NOT result EQUAL 0)
            set(failed ${from})
          endif()
        endforeach()
      endforeach()
      if(NOT failed)
        file(SHA256 ${folder}/${target}_${target}.co own)
        file(SHA256 ${folder}/${target}_${generic}.co other)
        if(own STREQUAL other)
          set(HIPOPS_PROBED_SAME_${target} "${key}" CACHE INTERNAL "")
        endif()
      endif()
    endif()
    if(HIPOPS_PROBED_SAME_${target} STREQUAL key)
      message(STATUS "hipops: the code of ${target} is that of ${generic}")
      set(HIPOPS_ASSEMBLED_${target} ${generic} PARENT_SCOPE)
      set(HIPOPS_ASSEMBLED_${generic} ${generic} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# The path of the build folder without links, because `..` in a relative path follows the real folders.
file(REAL_PATH ${PROJECT_BINARY_DIR} hipops_real_build)
file(REAL_PATH ${PROJECT_SOURCE_DIR} hipops_real_source)
file(RELATIVE_PATH hipops_source ${hipops_real_build} ${hipops_real_source})
string(REGEX REPLACE "/$" "" hipops_source "${hipops_source}")
if(NOT hipops_source)
  set(hipops_source .)
endif()
if(HIPOPS_AMD)
  hipops_find_amd_compiler()
  if(HIPOPS_AMD_COMPILE)
    hipops_probe_amd_targets()
    hipops_probe_same_code()
    message(STATUS "hipops: AMD code objects by ${HIPOPS_AMD_ORIGIN} for ${HIPOPS_AMD_BUILT}")
    hipops_leave_out(HIPOPS_AMD "${hipops_named_targets}" "${HIPOPS_AMD_BUILT}" "${HIPOPS_AMD_MISSING}"
      "this compiler (its words: probe/<target>.log in the build folder) cannot build")
  elseif(HIPOPS_AMD STREQUAL "AUTO")
    message(STATUS "hipops: no AMD code objects: neither ROCm nor clang with lld, llvm-as, clang-offload-bundler and rocm-device-libs found")
  else()
    message(FATAL_ERROR "hipops: HIPOPS_AMD is ON, but neither ROCm nor clang with lld, llvm-as, clang-offload-bundler and rocm-device-libs was found")
  endif()
endif()

set(hipops_code_folder ${PROJECT_BINARY_DIR}/code-objects)

# Another command lists the headers, because the cache does not keep files that clang writes by -Xclang. The output has
# a relative path, because -MT escapes nothing: a space in the folder's name would make two files of it, which are never
# up to date.
function(hipops_compile_op op target output kind)
  hipops_compile_for(${target} compile)
  list(APPEND compile ${hipops_source}/kernels/${op}.hip)
  file(RELATIVE_PATH name ${PROJECT_BINARY_DIR} ${output})
  add_custom_command(OUTPUT ${output}
    COMMAND ${compile} -E -o /dev/null -Xclang -dependency-file -Xclang ${output}.d -Xclang -MT -Xclang ${name}
    COMMAND ${HIPOPS_AMD_LAUNCHER} ${compile} ${kind} -o ${output}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    DEPENDS ${PROJECT_SOURCE_DIR}/kernels/${op}.hip
    DEPFILE ${output}.d
    COMMENT "${op} for ${target}" VERBATIM)
endfunction()

# Ops with instructions that a card has and its generic target lacks.
set(hipops_own_code static_quantize dynamic_quantize)
set(HIPOPS_BUNDLES)
if(HIPOPS_AMD_BUILT)
  foreach(op ${HIPOPS_OPS})
    set(entries host-x86_64-unknown-linux-gnu)
    set(inputs -input=/dev/null)
    set(files)
    foreach(target ${HIPOPS_AMD_BUILT})
      set(object ${hipops_code_folder}/${target}/${op}.co)
      file(MAKE_DIRECTORY ${hipops_code_folder}/${target})
      set(from ${HIPOPS_ASSEMBLED_${target}})
      if(NOT from OR (op IN_LIST hipops_own_code AND NOT from STREQUAL target))
        hipops_compile_op(${op} ${target} ${object} "-c;${HIPOPS_AMD_LINK}")
      else()
        set(assembly ${hipops_code_folder}/${from}/${op}.s)
        if(from STREQUAL target)
          hipops_compile_op(${op} ${target} ${assembly} -S)
        endif()
        hipops_assemble_for(${target} ${from} assemble)
        add_custom_command(OUTPUT ${object} COMMAND ${assemble} ${assembly} ${object}
          DEPENDS ${assembly} ${PROJECT_SOURCE_DIR}/tools/cmake/assemble.sh COMMENT "${op} for ${target}, of assembly" VERBATIM)
      endif()
      list(APPEND files ${object})
      list(APPEND entries hipv4-amdgcn-amd-amdhsa--${target})
      list(APPEND inputs -input=${object})
    endforeach()
    string(REPLACE ";" "," entries "${entries}")
    set(bundle ${hipops_code_folder}/${op}.hipfb)
    add_custom_command(OUTPUT ${bundle}
      COMMAND ${HIPOPS_OFFLOAD_BUNDLER} -type=o -bundle-align=4096 -targets=${entries} ${inputs} -output=${bundle}
      DEPENDS ${files} COMMENT "bundle of ${op}" VERBATIM)
    set(HIPOPS_BUNDLE_${op} ${bundle})
    list(APPEND HIPOPS_BUNDLES ${bundle})
  endforeach()
endif()
add_custom_target(hipops_code_objects DEPENDS ${HIPOPS_BUNDLES})
