# The program with all bundled algorithms: docker build -t swapmeet .
FROM rust:1.95-slim-trixie AS build
COPY . /source
RUN cargo install --locked --path /source/framework/cli --root /built

FROM debian:trixie-slim
COPY --from=build /built/bin/swapmeet /usr/local/bin/swapmeet
# A user without permissions. Files are read from and written to a folder that the caller mounts.
USER 65534:65534
WORKDIR /work
ENTRYPOINT ["swapmeet"]
