# Read by cmake after project(horovod): what spares the compilers most of their work, and ranks that share cores.

# No debug information: it is nearly all of the library's 61 MB. Horovod makes -O3 of -O2.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -DNDEBUG")

# Changes for ranks that share cores, 64 of them at most: the same results and messages for less of the cores' time.
function(replace file before after)
    file(READ "${PROJECT_SOURCE_DIR}/${file}" source)
    string(REPLACE "${before}" "${after}" changed "${source}")
    if(changed STREQUAL source)
        message(FATAL_ERROR "${file} of this Horovod has no such lines, which tools/horovod.cmake replaces: ${before}")
    endif()
    file(WRITE "${PROJECT_SOURCE_DIR}/${file}" "${changed}")
endfunction()

set(pair third_party/gloo/gloo/transport/tcp/pair.cc)
set(context horovod/common/gloo/gloo_context.cc)
set(store horovod/common/gloo/http_store)
# While another thread holds a pair's lock, Gloo's asks again at once, a hundred thousand times a second, on its core.
replace(${pair} "if (!lock) {\n    return;" "if (!lock) {\n    sched_yield();\n    return;")
# Each pair listens at a port. With SO_REUSEADDR the kernel looks for it in half of its ports first, one by one.
set(reuse "rv = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR")
replace(${pair} "int on = 1;\n  ${reuse}" "int on = 0;\n  ${reuse}")
# All ranks are on one node: what connects them all connects the ranks of the node, too, and need not be made twice.
# Horovod uses the second one only while it starts.
replace(${context} "local_ctx = Rendezvous(" "local_ctx = local_size == size && local_rank == rank ? ctx : Rendezvous(")
# The process set of all ranks is not connected a second time either: one thread uses the one and the other, in turn.
set(shared "ctx = global_context.ctx;\n    local_ctx = global_context.local_ctx;\n    cross_ctx = global_context.cross_ctx;")
replace(${context} "ranks.empty()) {\n" "ranks.empty()) {\n    ${shared}\n    return;\n")
# A rank waits for the address of each other one, and then asks for it again, with one more connection.
replace(${store}.h "  int rank_;" "  int rank_;\n  std::string came_;\n  std::vector<char> value_;")
replace(${store}.cc "      return false;\n    }\n" "      return false;\n    }\n    came_ = key;\n    value_ = result;\n")
replace(${store}.cc "get(const std::string& key) {" "get(const std::string& key) {\n  if (key == came_) return value_;")
# A rank that starts, or adds a process set, looks each millisecond whether it has: 64 leave little for the start itself.
replace(horovod/common/operations.cc "milliseconds(1));" "milliseconds(10));")

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
