// Builds a graph, runs it by onnxruntime and writes a folder with model, inputs and outputs.
const o=require('onnx-proto').onnx, ort=require('onnxruntime-node'), fs=require('fs'), path=require('path');
const T={f32:[1,Float32Array,'float32'],u8:[2,Uint8Array,'uint8'],i8:[3,Int8Array,'int8'],i32:[6,Int32Array,'int32'],i64:[7,BigInt64Array,'int64'],bool:[9,Uint8Array,'bool'],f16:[10,Uint16Array,'float16'],f64:[11,Float64Array,'float64'],u16:[4,Uint16Array,'uint16'],i16:[5,Int16Array,'int16'],i4:[22,Uint8Array,'int4'],u4:[21,Uint8Array,'uint4']};
let seed=1; const rnd=()=>{seed=(seed*1103515245+12345)%2147483648;return seed/2147483648;};
const count=s=>s.reduce((a,b)=>a*b,1);
function arr(type,shape,data){const C=T[type][1];const n=count(shape);
 if(typeof data==='function'){const a=new C(n);for(let i=0;i<n;i++){const v=data(i);a[i]=C===BigInt64Array?BigInt(v):v;}return a;}
 if(data===undefined)return arr(type,shape,()=>type.startsWith('f')?Math.round((rnd()*2-1)*64)/64:Math.floor(rnd()*7));
 if(C===BigInt64Array)return BigInt64Array.from(data.map(BigInt));return C.from(data);}
function raw(a){return new Uint8Array(a.buffer,a.byteOffset,a.byteLength);}
function tproto(name,type,shape,a){return {name,dims:shape,dataType:T[type][0],rawData:raw(a)};}
function attr(name,v){const A=o.AttributeProto.AttributeType;
 if(v&&v.g)return{name,type:A.GRAPH,g:v.g};if(v&&v.t)return{name,type:A.TENSOR,t:v.t};if(v&&v.f!==undefined)return Array.isArray(v.f)?{name,type:A.FLOATS,floats:v.f}:{name,type:A.FLOAT,f:v.f};
 if(typeof v==='string')return{name,type:A.STRING,s:Buffer.from(v)};if(Array.isArray(v))return typeof v[0]==='string'?{name,type:A.STRINGS,strings:v.map(x=>Buffer.from(x))}:{name,type:A.INTS,ints:v};
 if(Number.isInteger(v))return{name,type:A.INT,i:v};return{name,type:A.FLOAT,f:v};}
class G{constructor(){this.nodes=[];this.inits=[];this.inputs=[];this.outputs=[];this.feeds=[];this.n=0;}
 in(name,type,shape,data,sym){const a=arr(type,shape,data);this.inputs.push(this.vi(name,type,sym||shape));this.feeds.push([name,type,shape,a]);return name;}
 vi(name,type,shape){return{name,type:{tensorType:{elemType:T[type][0],shape:{dim:shape.map(d=>typeof d==='string'?{dimParam:d}:{dimValue:d})}}}};}
 c(type,shape,data,name){name=name||'c'+this.n++;const a=arr(type,shape,data);this.inits.push(tproto(name,type,shape,a));return name;}
 k(type,shape,data){const out='k'+this.n++;this.nodes.push({opType:'Constant',input:[],output:[out],attribute:[attr('value',{t:tproto('',type,shape,arr(type,shape,data))})]});return out;}
 op(opType,input,attrs,opt){opt=opt||{};const outs=opt.outs||['v'+this.n++];const full={opType,name:opType+'_'+this.nodes.length,input,output:outs,attribute:Object.entries(attrs||{}).map(([k,v])=>attr(k,v))};if(opt.domain)full.domain=opt.domain;this.nodes.push(full);return outs.length===1?outs[0]:outs;}
 ms(opType,input,attrs,opt){return this.op(opType,input,attrs,Object.assign({domain:'com.microsoft'},opt||{}));}
 out(...names){this.outputs.push(...names);}
 graph(name){return{name:name||'g',node:this.nodes,initializer:this.inits,input:this.inputs,output:this.outputs.map(n=>typeof n==='string'?{name:n}:n)};}}
async function make(dir,name,opset,fill,opt){opt=opt||{};seed=1+[...name].reduce((a,c)=>(a*31+c.charCodeAt(0))%100000,7);const g=new G();fill(g);
 const m={irVersion:opt.ir||8,producerName:'orchard',graph:g.graph(name),opsetImport:[{domain:'',version:opset},{domain:'com.microsoft',version:1},...(opt.sets||[])],functions:opt.functions||[]};
 const bytes=o.ModelProto.encode(o.ModelProto.fromObject(m)).finish();
 const s=await ort.InferenceSession.create(bytes,{graphOptimizationLevel:opt.level||'disabled',logSeverityLevel:3});
 const feeds={};for(const[n,t,sh,a]of g.feeds)feeds[n]=new ort.Tensor(T[t][2],t==='bool'?Uint8Array.from(a):a,sh);
 const r=await s.run(feeds);const d=path.join(dir,name);fs.rmSync(d,{recursive:true,force:true});fs.mkdirSync(d+'/test_data_set_0',{recursive:true});fs.writeFileSync(d+'/model.onnx',bytes);
 const inv=Object.fromEntries(Object.entries(T).map(([k,v])=>[v[2],k]));
 const w=(f,p)=>fs.writeFileSync(f,o.TensorProto.encode(o.TensorProto.fromObject(p)).finish());
 g.feeds.forEach(([n,t,sh,a],i)=>w(d+`/test_data_set_0/input_${i}.pb`,tproto(n,t,sh,a)));
 s.outputNames.forEach((n,i)=>{const t=r[n];w(d+`/test_data_set_0/output_${i}.pb`,tproto(n,inv[t.type],[...t.dims],t.data));});
 return r;}
module.exports={make,G,attr,tproto,arr,rnd,o};
