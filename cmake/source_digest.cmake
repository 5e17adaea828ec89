# cmake -DFILES=a;b -DOUTPUT=header -P source_digest.cmake: one digest over what the compiler is made of, so that a store
# never hands out what another build made. Contents count, paths do not.
set(all "")
foreach(file IN LISTS FILES)
  file(SHA256 ${file} digest)
  string(APPEND all ${digest})
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 16 digest)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define SMELT_SOURCE_DIGEST \"@digest@\"\n" @ONLY)
