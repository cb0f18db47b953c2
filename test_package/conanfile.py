import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class TestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    @property
    def _with_mpi(self):
        return bool(self.dependencies["bahdanau"].options.with_mpi)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["WITH_THRUST"] = bool(self.dependencies["bahdanau"].options.with_thrust)
        toolchain.cache_variables["WITH_MPI"] = self._with_mpi
        with_sentencepiece = bool(self.dependencies["bahdanau"].options.with_sentencepiece)
        toolchain.cache_variables["WITH_SENTENCEPIECE"] = with_sentencepiece
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            launcher = "mpirun --oversubscribe -n 2 " if self._with_mpi else ""
            self.run(launcher + os.path.join(self.cpp.build.bindir, "test_package"), env="conanrun")
