"""Code objects with some of their instructions changed."""

import re
import subprocess


class Code:
    """A code object, as llvm-objdump lists it."""

    def __init__(self, path, objdump):
        self.data = open(path, "rb").read()
        self.address, self.place = self._text_section(subprocess.run([objdump, "-h", "-w", path], capture_output=True, text=True,
                                                                     check=True).stdout)
        self.kernels = {}  # by name: [(address, text)]
        listing = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            if header := re.match(r"^[0-9a-f]+ <(\w+)>:", line):
                instructions = self.kernels.setdefault(header[1], [])
            elif found := re.match(r"^\s+(\S.*?)\s*// ([0-9A-F]+):", line):
                instructions.append((int(found[2], 16), found[1]))

    def _text_section(self, headers):
        """The address of the code, and its place in the file."""
        address = int(next(line.split()[3] for line in headers.splitlines() if " .text " in line), 16)
        sections, count = int.from_bytes(self.data[40:48], "little"), int.from_bytes(self.data[60:62], "little")
        for i in range(count):
            header = self.data[sections + 64 * i:sections + 64 * (i + 1)]
            if int.from_bytes(header[16:24], "little") == address:
                return address, int.from_bytes(header[24:32], "little")
        raise ValueError(f"no section at {address:x}")

    def without(self, kernel, indices):
        """The file with s_nop in place of the kernel's instructions with these indices."""
        data, instructions = bytearray(self.data), self.kernels[kernel]
        for i in indices:
            begin, end = instructions[i][0], instructions[i + 1][0]
            data[self.place + begin - self.address:self.place + end - self.address] = b"\x00\x00\x80\xbf" * ((end - begin) // 4)
        return bytes(data)

    def with_bits(self, kernel, indices, word, keep):
        """The file with one word of each such instruction masked."""
        data, instructions = bytearray(self.data), self.kernels[kernel]
        for i in indices:
            at = self.place + instructions[i][0] - self.address + 4 * word
            data[at:at + 4] = (int.from_bytes(data[at:at + 4], "little") & keep).to_bytes(4, "little")
        return bytes(data)
