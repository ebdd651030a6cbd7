# Read by cmake after project(horovod): what halves the compilers' work and leaves Horovod as it is.

# No debug information: it fills most of the wheel. Horovod makes -O3 of -O2.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -DNDEBUG")

function(spare)
    # TensorFlow 2.15 links the Gloo compiled as C++17; the other one is for frameworks that are not here.
    set_property(TARGET gloo PROPERTY EXCLUDE_FROM_ALL ON)
    # Most of a file's time goes into headers that the files share: several at a time read them once.
    set_target_properties(tensorflow compatible17_gloo PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    # These cannot share: TensorFlow's LOG is not Horovod's, and what allreduce_local.cc calls ReductionFunction is its own.
    set_property(SOURCE "${PROJECT_SOURCE_DIR}/horovod/tensorflow/mpi_ops.cc"
        "${PROJECT_SOURCE_DIR}/horovod/tensorflow/xla_mpi_ops.cc"
        TARGET_DIRECTORY tensorflow PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
    set_property(SOURCE "${PROJECT_SOURCE_DIR}/third_party/compatible17_gloo/gloo/allreduce_local.cc"
        TARGET_DIRECTORY compatible17_gloo PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# The targets are there at the end of Horovod's own file; an older cmake compiles all, one by one.
if(NOT CMAKE_VERSION VERSION_LESS 3.19)
    cmake_language(DEFER CALL spare)
endif()
