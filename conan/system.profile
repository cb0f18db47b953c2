{# This machine's compiler, and the distribution's packages in place of Conan's:
     conan create . -pr:a conan/system.profile --no-remote
   The versions below are what the recipe sees; the headers are those that CMake finds on the system. #}
{% set compiler, version, executable = detect_api.detect_default_compiler() %}
[settings]
os={{ detect_api.detect_os() }}
arch={{ detect_api.detect_arch() }}
compiler={{ compiler }}
compiler.version={{ detect_api.default_compiler_version(compiler, version) }}
compiler.libcxx={{ detect_api.detect_libcxx(compiler, version, executable) }}
compiler.cppstd=20
build_type=Release

[platform_requires]
xtensor/0.24.3
xtl/0.7.2
xtensor-blas/0.20.0
openblas/0.3.21
nlohmann_json/3.11.2
utf8proc/2.8.0
sentencepiece/0.1.97
openmpi/4.1.4
thrust/1.17.2
catch2/2.13.10
rapidcheck/cci.20230815
cli11/2.1.2
