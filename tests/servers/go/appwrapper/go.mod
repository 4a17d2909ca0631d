module policygen.test/appwrapper

go 1.26.0

require github.com/project-codeflare/appwrapper v1.2.2
