console.log('prepare')
