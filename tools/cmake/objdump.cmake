# HIPOPS_OBJDUMP: the disassembler of the compiler of the AMD code objects, if it exists.

if(HIPOPS_ROCM_CLANG)
  get_filename_component(objdump_folder ${HIPOPS_ROCM_CLANG} DIRECTORY)
  find_program(HIPOPS_OBJDUMP llvm-objdump PATHS ${objdump_folder} ${objdump_folder}/../llvm/bin NO_DEFAULT_PATH)
elseif(HIPOPS_CLANG)
  string(REGEX REPLACE "^.*clang" "llvm-objdump" objdump_name ${HIPOPS_CLANG})
  find_program(HIPOPS_OBJDUMP ${objdump_name})
endif()
