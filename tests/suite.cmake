# Several tests as one file: the compiler reads the library and instantiates a model once for all of them. And the list of
# those that run on any backend.

set(bahdanau_backend_tests
  autograd/convolution autograd/cross_entropy autograd/dropout autograd/layer_norm autograd/maxout autograd/ops_error autograd/ops_value autograd/pointwise_gradient
  autograd/product_gradient autograd/shape_gradient autograd/span_gradient autograd/tape autograd/weight_gradient
  backend/gemm backend/reduction backend/rows
  cell/gru cell/gru_reset_before cell/normed_cell cell/lstm cell/recorded_step cell/recurrent_layer cell/rnn
  decode/search
  golden/gru_additive_bi golden/gru_additive_uni golden/gru_scaled_dot_uni
  golden/lstm_additive_bi golden/lstm_additive_uni golden/lstm_scaled_dot_uni
  io/model_file
  model/encoder_decoder model/model_error
  score/additive score/coverage score/dot score/local score/multi_head score/padding score/recorded_attention
  score/scaled_dot
  train/checkpoint train/optimizer train/trainer train/training)

# Models of many combinations of policies, on one of the systems; those that nvcc compiles.
set(bahdanau_family_tests
  golden/cho golden/conditional golden/coverage golden/dot_concat golden/fed_deep golden/fixed_concat golden/gehring
  golden/local_general golden/luong golden/mean_tied golden/multi_head golden/nematus golden/normed golden/plain_tanh
  golden/rnn golden/rnnsearch golden/sutskever
  family/no_attention family/own_policies family/papers family/structures family/wrapped_scores)
set(bahdanau_family_cuda_tests golden/luong golden/rnnsearch)

# What is compiled together: models whose numbers are known, and the rest; or operations alone.
set(bahdanau_suite_golden ${bahdanau_backend_tests})
list(FILTER bahdanau_suite_golden INCLUDE REGEX "^golden/")
set(bahdanau_suite_rest ${bahdanau_backend_tests})
list(FILTER bahdanau_suite_rest EXCLUDE REGEX "^golden/")
set(bahdanau_suite_operations ${bahdanau_backend_tests})
list(FILTER bahdanau_suite_operations INCLUDE REGEX "^(autograd|backend|cell|score)/")

# bahdanau_suite(out name tests...): writes one file that holds the tests, each in a namespace of its own, and puts its
# path into the variable `out`. What they include comes first: inside a namespace nothing is left to include.
function(bahdanau_suite out name)
  set(includes "")
  set(bodies "")
  foreach(test IN LISTS ARGN)
    set(source "${PROJECT_SOURCE_DIR}/tests/${test}_test.cpp")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" lines REGEX "^#include ")
    list(APPEND includes ${lines})
    string(MAKE_C_IDENTIFIER "${test}" namespace)
    string(APPEND bodies "namespace ${namespace} {\n#include \"${source}\"\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(SORT includes COMPARE NATURAL)  # <...> last, so that our own headers still include what they need themselves
  list(JOIN includes "\n" includes)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  file(CONFIGURE OUTPUT "${file}" CONTENT "${includes}\n\n${bodies}" @ONLY)
  set(${out} "${file}" PARENT_SCOPE)
endfunction()

# bahdanau_joined_programs(target name=source...): programs as one file, see join.py; the program `name` is what the script
# in the variable `joined_<name>` starts.
function(bahdanau_joined_programs target)
  set(sources "")
  foreach(program IN LISTS ARGN)
    string(REGEX REPLACE "=.*" "" name "${program}")
    string(REGEX REPLACE "^[^=]*=" "" source "${program}")
    list(APPEND sources "${source}")
    set(script "${CMAKE_CURRENT_BINARY_DIR}/joined/${name}")
    file(GENERATE OUTPUT "${script}" CONTENT "#!/bin/sh\nexec \"$<TARGET_FILE:${target}>\" ${name} \"$@\"\n"
         FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    set(joined_${name} "${script}" PARENT_SCOPE)
  endforeach()
  set(join "${PROJECT_SOURCE_DIR}/tests/join.py")
  add_custom_command(OUTPUT ${target}.cpp
    COMMAND "${Python3_EXECUTABLE}" "${join}" ${target}.cpp ${ARGN} DEPENDS "${join}" ${sources} VERBATIM)
  add_executable(${target} "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
endfunction()
