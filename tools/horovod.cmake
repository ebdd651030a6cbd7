# Read by cmake after project(horovod): what spares the compilers most of their work, and ranks that share cores.

# No debug information: it is nearly all of the library's 61 MB. Horovod makes -O3 of -O2.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -DNDEBUG")

# What is changed in Horovod is of three kinds. A change whose lines are not there stops the compilation.
function(replace file before after)
    get_filename_component(path "${file}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
    file(READ "${path}" source)
    string(REPLACE "${before}" "${after}" changed "${source}")
    if(changed STREQUAL source)
        message(FATAL_ERROR "${file} of this Horovod has no such lines, which tools/horovod.cmake replaces: ${before}")
    endif()
    file(WRITE "${path}" "${changed}")
endfunction()

set(pair third_party/gloo/gloo/transport/tcp/pair.cc)
set(context horovod/common/gloo/gloo_context.cc)
set(store horovod/common/gloo/http_store)

# 1. To build against today's TensorFlow: without these the compilation fails, and the Keras part finds another Keras.
if(NOT "$ENV{COURSEKIT_TENSORFLOW}" VERSION_LESS 2.21)
    set(xla horovod/tensorflow/xla_mpi_ops.cc)
    # XLA has moved a header, and no longer has a name of its own for StatusOr.
    replace(${xla} "xla/client/xla_builder.h" "xla/hlo/builder/xla_builder.h")
    replace(${xla} "::xla::StatusOr<" "absl::StatusOr<")
    # TensorFlow's headers include those of two packages that lie in folders of their own.
    set(folders "include_directories(SYSTEM \${Tensorflow_INCLUDE_DIRS}")
    foreach(folder highwayhash farmhash_archive/src)
        string(APPEND folders " \${Tensorflow_INCLUDE_DIRS}/external/${folder}")
    endforeach()
    replace(horovod/tensorflow/CMakeLists.txt "include_directories(SYSTEM \${Tensorflow_INCLUDE_DIRS}" "${folders}")
    # A build with NCCL needs the CUDA stream of an operation, and TensorFlow no longer exports the function for it.
    replace(horovod/tensorflow/mpi_ops.cc "GpuStreamHandle AsGpuStreamValue(Stream* stream);"
        "template <class S> GpuStreamHandle AsGpuStreamValue(S* stream) {
  return static_cast<GpuStreamHandle>(stream->platform_specific_handle().stream);\n}")
    # The package keras is Keras 3; Horovod's Keras is the one that TensorFlow hands out.
    # setup.py has copied Python's files by now.
    foreach(module __init__ callbacks)
        set(file "${CMAKE_LIBRARY_OUTPUT_DIRECTORY_RELWITHDEBINFO}/horovod/tensorflow/keras/${module}.py")
        replace("${file}" "from keras import backend as K" "K = keras.backend")
    endforeach()
endif()

# 2. To be right.
# A process set takes the network interface that ranks were given. Without this it looks for that of the host's name,
# which may not resolve (the rank crashes), or may lead beyond this machine.
set(enabled "assert(global_context.IsEnabled());\n")
replace(${context} "${enabled}" "${enabled}  gloo_iface_ = global_context.gloo_iface_;\n")
# With GPUs hidden, hvd.join() works in a Horovod for GPUs, too. Without this it is there for GPUs or for CPUs.
replace(horovod/tensorflow/mpi_ops.cc "HorovodJoinOp);\n#else" "HorovodJoinOp);\n#endif\n#if 1")
# Horovod warns of ranks for which others wait. Without this it never does where Gloo joins the ranks: the list of ranks has
# room and no entries, and whoever is missing is looked up in it.
replace(horovod/common/gloo/gloo_controller.cc "global_ranks_.reserve(size_)" "global_ranks_.resize(size_)")

# 3. To be fast when ranks share cores, 64 of them at most: the same results and messages for less of the cores' time.
# HOROVOD=plain leaves these out, and so do builds for GPUs. In numbers: the cores' seconds of all ranks in hvd.init(), on
# a loaded machine of 2 cores with TensorFlow 2.21. 64 ranks: 2.1 with all of these, 31 and more without. 32 ranks: 0.5 with
# all, 2.8 to 7.9 without; where it says so below, with all but one.
if(NOT "$ENV{COURSEKIT_HOROVOD}" STREQUAL "plain")
    # While another thread holds a pair's lock, Gloo's asks again at once, a hundred thousand times a second, on its core.
    # Without: 0.9, and a fifth more for small allreduces.
    replace(${pair} "if (!lock) {\n    return;" "if (!lock) {\n    sched_yield();\n    return;")
    # All ranks are on one node: what connects them all connects the ranks of the node, too, and need not be made twice.
    # Horovod uses the second one only while it starts. Without: 0.7.
    set(one_node "local_size == size && local_rank == rank")
    replace(${context} "local_ctx = Rendezvous(" "local_ctx = ${one_node} ? ctx : Rendezvous(")
    # The process set of all ranks is not connected a second time either: one thread uses the one and the other, in turn.
    # Without: 1.1.
    foreach(name ctx local_ctx cross_ctx)
        string(APPEND shared "    ${name} = global_context.${name};\n")
    endforeach()
    replace(${context} "ranks.empty()) {\n" "ranks.empty()) {\n${shared}    return;\n")
    # A rank waits for the address of each other one, and then asks for it again: without this, with one more connection
    # to the one process that answers all ranks.
    replace(${store}.h "  int rank_;" "  int rank_;\n  std::string came_;\n  std::vector<char> value_;")
    replace(${store}.cc "      return false;\n    }\n" "      return false;\n    }\n    came_ = key;\n    value_ = result;\n")
    replace(${store}.cc "get(const std::string& key) {" "get(const std::string& key) {\n  if (key == came_) return value_;")
    # A rank that starts, or adds a process set, looks each millisecond whether it has: 64 leave little for the start itself.
    # Without: 0.8. With it, a start may take up to 10 ms longer.
    replace(horovod/common/operations.cc "milliseconds(1));" "milliseconds(10));")
    # While a timeline is written, a thread of rank 0 looks for entries without a pause, on a core that ranks share. Without:
    # a tenth more of the cores' time for the whole notebook of lab 06.
    set(pause "std::this_thread::sleep_for(std::chrono::milliseconds(1))")
    replace(horovod/common/timeline.cc "std::this_thread::yield()" "${pause}")
endif()

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
