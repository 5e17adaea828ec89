# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# smelt_embed_headers(TARGET FOLDER): every file below FOLDER but its README, as a table in a generated source:
#
#   struct EmbeddedHeader { const char* name; const char* text; unsigned long size; };
#   extern const EmbeddedHeader smelt_embedded_headers[]; extern const unsigned long smelt_embedded_header_count;
#   extern const char smelt_embedded_headers_sha256[];
#
# in namespace smelt::aot::msl. Run as a script (-P) it writes that source.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
  list(FILTER files EXCLUDE REGEX "(^|/)(README\\.md|[^/]*\\.py|[^/]*\\.pyc|\\..*)$")
  list(SORT files COMPARE STRING)
  set(table "")
  set(bodies "")
  set(digests "")
  set(index 0)
  set(piece 15000)  # compilers limit one string literal; neighbours are joined
  foreach(file IN LISTS files)
    file(READ ${FOLDER}/${file} text)
    file(SHA256 ${FOLDER}/${file} digest)
    string(APPEND digests "${file} ${digest}\n")
    string(LENGTH "${text}" length)
    string(APPEND bodies "const char kText${index}[] =\n")
    set(at 0)
    while(at LESS length)
      string(SUBSTRING "${text}" ${at} ${piece} part)
      string(APPEND bodies "R\"smelt(${part})smelt\"\n")
      math(EXPR at "${at} + ${piece}")
    endwhile()
    if(length EQUAL 0)
      string(APPEND bodies "\"\"")
    endif()
    string(APPEND bodies ";\n")
    string(APPEND table "    {\"${file}\", kText${index}, sizeof kText${index} - 1},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  string(SHA256 sha "${digests}")
  file(WRITE ${OUTPUT} "// Made by cmake/embed_headers.cmake.\n#include \"inputs/headers.hpp\"\n\nnamespace smelt::aot::msl {\nnamespace {\n"
    "${bodies}}  // namespace\nconst EmbeddedHeader smelt_embedded_headers[] = {\n${table}};\n"
    "const unsigned long smelt_embedded_header_count = ${index};\n"
    "const char smelt_embedded_headers_sha256[] = \"${sha}\";\n}  // namespace smelt::aot::msl\n")
  return()
endif()

set(SMELT_EMBED_HEADERS ${CMAKE_CURRENT_LIST_FILE})
function(smelt_embed_headers target folder)
  # Found, not listed: a header that is there is one that programs can include.
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_headers.cpp)
  add_custom_command(OUTPUT ${output} COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${output} -P ${SMELT_EMBED_HEADERS}
    DEPENDS ${files} ${SMELT_EMBED_HEADERS} COMMENT "Embedding the Metal headers" VERBATIM)
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
