# Random cases against a plain reference (hipops-fuzz) on every runtime of this machine. With a clang that has
# libFuzzer, also the fuzzers of tools/fuzz.

if(HIPOPS_CPU)
  hipops_test(test_fuzz tools/test_fuzz.cpp)
  target_link_libraries(test_fuzz PRIVATE fuzz)
  foreach(wave 32 64)
    foreach(guard zones after before)
      add_test(NAME fuzz_cpu_wave${wave}_${guard} COMMAND hipops-fuzz --wave ${wave} --guard ${guard} --count 1500 --elements 1000)
    endforeach()
  endforeach()
  # Rows that are too long for one block. Every element is compared. Golden files have only the sum of each row.
  foreach(op ${row_ops})
    foreach(wave 32 64)
      add_test(NAME fuzz_cpu_wave${wave}_long_${op} COMMAND hipops-fuzz --wave ${wave} --op ${op} --count 30 --elements 300000)
      set_tests_properties(fuzz_cpu_wave${wave}_long_${op} PROPERTIES ENVIRONMENT "HIPOPS_CPU_UNITS=16")
    endforeach()
  endforeach()
  # The runs above have some hundred cases for each op. Upsampling needs thousands: fewer did not detect a kernel that
  # ignored gaps between columns.
  foreach(op upsample_nearest1d upsample_nearest2d)
    add_test(NAME fuzz_cpu_wave32_${op} COMMAND hipops-fuzz --op ${op} --seed 2 --count 6000 --elements 2000)
  endforeach()
  # The ways of a sum by an index are many.
  foreach(wave 32 64)
    add_test(NAME fuzz_cpu_wave${wave}_index_add COMMAND hipops-fuzz --wave ${wave} --op index_add --seed 3 --count 400 --elements 1500)
  endforeach()
  # An f32 row with an error of 4.01 ULPs if layer_norm rounds x - mean twice, and its product with the scale.
  add_test(NAME fuzz_found_layer_norm COMMAND hipops-fuzz --op layer_norm --seed 20261121 --first 2010 --count 1)
endif()
if(HIPOPS_EMULATOR_DIR AND HIPOPS_AMD_BUILT)
  foreach(target gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201)
    if(target IN_LIST HIPOPS_AMD_BUILT)
      add_test(NAME fuzz_hip_${target} COMMAND hipops-fuzz --backend hip --count 1000 --elements 600)
      set_tests_properties(fuzz_hip_${target} PROPERTIES ENVIRONMENT "${checked};AMDEMU_ARCH=${target};AMDEMU_SEED=1")
    endif()
  endforeach()
  foreach(target gfx942 gfx1100)  # one target for each wave size
    if(target IN_LIST HIPOPS_AMD_BUILT)
      foreach(op layer_norm rms_norm softmax)
        add_test(NAME fuzz_hip_${target}_long_${op} COMMAND hipops-fuzz --backend hip --op ${op} --count 20 --elements 300000)
        set_tests_properties(fuzz_hip_${target}_long_${op} PROPERTIES ENVIRONMENT "${checked};AMDEMU_ARCH=${target};AMDEMU_SEED=1")
      endforeach()
    endif()
  endforeach()
endif()

# ---- libFuzzer. A test builds the instrumented library in another folder.
if(NOT HIPOPS_CPU OR HIPOPS_SANITIZE)
  return()
endif()

# The kernels need _Float16, which clang has on x86 from version 15 on.
function(hipops_find_fuzzing_clang)
  set(check ${CMAKE_CURRENT_BINARY_DIR}/fuzzer_check)
  file(WRITE ${check}.cpp "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long size) { return int(_Float16(size) * 0); }\n")
  foreach(version -22 -21 -20 -19 -18 -17 -16 -15 "")
    find_program(clang clang++${version} NO_CACHE)
    if(clang)
      execute_process(COMMAND ${clang} -fsanitize=fuzzer,address,undefined ${check}.cpp -o ${check} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      if(NOT failed)
        set(HIPOPS_FUZZING_CLANG ${clang} CACHE FILEPATH "clang++ with libFuzzer, for fuzz_abi and fuzz_golden")
        return()
      endif()
    endif()
    unset(clang)
  endforeach()
endfunction()
if(NOT HIPOPS_FUZZING_CLANG)
  hipops_find_fuzzing_clang()
endif()
if(NOT HIPOPS_FUZZING_CLANG)
  message(STATUS "hipops: no fuzzers: no clang++ with libFuzzer's library (Debian: clang-N and libclang-rt-N-dev)")
  return()
endif()

string(REGEX REPLACE "clang\\+\\+([^/]*)$" "clang\\1" fuzz_c_compiler ${HIPOPS_FUZZING_CLANG})
set(fuzz_build ${PROJECT_BINARY_DIR}/fuzz)
set(fuzz_corpus ${PROJECT_SOURCE_DIR}/tools/fuzz/corpus)
add_test(NAME fuzz_build COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${PROJECT_SOURCE_DIR} ${fuzz_build}
  --build-generator ${CMAKE_GENERATOR} --build-noclean --build-target fuzzers --build-options
  -DCMAKE_CXX_COMPILER=${HIPOPS_FUZZING_CLANG} -DCMAKE_C_COMPILER=${fuzz_c_compiler}
  -DHIPOPS_FUZZ=ON -DHIPOPS_SANITIZE=fuzzer-no-link,address,undefined
  -DHIPOPS_TESTS=OFF -DHIPOPS_TOOLS=OFF -DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF -DHIPOPS_CPU_WAVES=32
  -DCMAKE_BUILD_TYPE=Fuzz "-DCMAKE_CXX_FLAGS_FUZZ=-O1 -g1")
add_test(NAME fuzz_abi COMMAND ${fuzz_build}/bin/fuzz_abi -max_total_time=30 -seed=1 -print_final_stats=1
  -artifact_prefix=${fuzz_build}/ ${fuzz_build}/corpus_abi ${fuzz_corpus}/abi)
add_test(NAME fuzz_golden COMMAND ${fuzz_build}/bin/fuzz_golden -max_total_time=10 -seed=1 -print_final_stats=1
  -dict=${PROJECT_SOURCE_DIR}/tools/fuzz/golden.dict -artifact_prefix=${fuzz_build}/
  ${fuzz_build}/corpus_golden ${fuzz_corpus}/golden)
file(MAKE_DIRECTORY ${fuzz_build}/corpus_abi ${fuzz_build}/corpus_golden)  # folders for the inputs that the fuzzers find
set_tests_properties(fuzz_build PROPERTIES FIXTURES_SETUP fuzzers PROCESSORS 2 TIMEOUT 3000 COST 1000)
set_tests_properties(fuzz_abi fuzz_golden PROPERTIES FIXTURES_REQUIRED fuzzers COST 1000)
set_tests_properties(fuzz_build fuzz_abi fuzz_golden PROPERTIES LABELS fuzz)
