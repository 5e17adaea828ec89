# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# smelt_embed_bitcode(TARGET NAME SOURCE DEPENDS...): compiles one C file to LLVM bitcode with clang-19 and adds it to
# TARGET as `const unsigned char NAME[]`, `const unsigned long NAME_size`. The same sources give the same bytes: paths
# are relative, and nothing of the machine is asked.
#
# Run as a script (cmake -DINPUT= -DOUTPUT= -DNAME= -P embed_bitcode.cmake) it turns a file into that array.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${INPUT} hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  file(SIZE ${INPUT} size)
  file(WRITE ${OUTPUT} "// Made by cmake/embed_bitcode.cmake.\n"
    "extern \"C\" {\nextern const unsigned char ${NAME}[];\nextern const unsigned long ${NAME}_size;\n"
    "alignas(16) const unsigned char ${NAME}[] = {\n${hex}};\nconst unsigned long ${NAME}_size = ${size};\n}\n")
  return()
endif()

set(SMELT_EMBED_BITCODE ${CMAKE_CURRENT_LIST_FILE})
function(smelt_embed_bitcode target name source)
  find_program(SMELT_CLANG NAMES clang-19 clang HINTS /usr/lib/llvm-19/bin REQUIRED)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(file ${source} NAME)
  set(bitcode ${CMAKE_CURRENT_BINARY_DIR}/${name}.bc)
  set(array ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  # x86-64-v3 only says that fma is one instruction; the code is the same for every target, and target attributes are
  # dropped when it is linked into a kernel.
  add_custom_command(OUTPUT ${bitcode}
    COMMAND ${SMELT_CLANG} --target=x86_64-unknown-linux-gnu -march=x86-64-v3 -std=c17 -O2 -ffreestanding -fno-builtin
      -fno-math-errno -fno-trapping-math -ffp-contract=off -fdenormal-fp-math=dynamic -fno-vectorize -fno-slp-vectorize
      -fno-unroll-loops -fno-stack-protector -fno-asynchronous-unwind-tables -fno-ident
      -Wall -Wextra -Wno-unused-function -Werror -emit-llvm -c ${file} -o ${bitcode}
    WORKING_DIRECTORY ${folder}
    DEPENDS ${ARGN} VERBATIM COMMENT "Compiling ${file} to bitcode")
  add_custom_command(OUTPUT ${array}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${bitcode} -DOUTPUT=${array} -DNAME=${name} -P ${SMELT_EMBED_BITCODE}
    DEPENDS ${bitcode} ${SMELT_EMBED_BITCODE} VERBATIM)
  target_sources(${target} PRIVATE ${array})
  set_source_files_properties(${array} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
