# Read by cmake after project(horovod): what spares the compilers most of their work and leaves Horovod as it is.

# No debug information: it is nearly all of the library's 61 MB. Horovod makes -O3 of -O2.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -DNDEBUG")

# Most of a file's time goes into headers that the files share: eight at a time read them once.
function(compile_together target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    foreach(file IN LISTS ARGN)
        set_property(SOURCE "${PROJECT_SOURCE_DIR}/${file}" TARGET_DIRECTORY ${target}
            PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
    endforeach()
endfunction()

function(spare)
    if(TARGET compatible17_gloo)
        # TensorFlow 2.15 links the Gloo compiled as C++17; the other one is for frameworks that are not here.
        set_property(TARGET gloo PROPERTY EXCLUDE_FROM_ALL ON)
        # What allreduce_local.cc calls ReductionFunction is another one in the files beside it.
        compile_together(compatible17_gloo third_party/compatible17_gloo/gloo/allreduce_local.cc)
    endif()
    if(NOT HAVE_CUDA AND NOT HAVE_ROCM) # with GPU operations there are more files, and no one has compiled those together
        # TensorFlow's LOG is not Horovod's.
        compile_together(tensorflow horovod/tensorflow/mpi_ops.cc horovod/tensorflow/xla_mpi_ops.cc)
    endif()
endfunction()

# The targets are there at the end of Horovod's own file; an older cmake compiles all, one by one.
if(NOT CMAKE_VERSION VERSION_LESS 3.19)
    cmake_language(DEFER CALL spare)
endif()
